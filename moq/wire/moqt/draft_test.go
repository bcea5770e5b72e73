package moqt

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// The table of §6.1: what each type is from 14 to 22; "" is no message.
func TestTypes(t *testing.T) {
	same := func(name string) [9]string {
		return [9]string{name, name, name, name, name, name, name, name, name}
	}
	until16 := func(name string) [9]string { return [9]string{name, name, name} }
	want := map[Type][9]string{
		0x02:      {"SUBSCRIBE_UPDATE", "SUBSCRIBE_UPDATE", "REQUEST_UPDATE", "REQUEST_UPDATE", "REQUEST_UPDATE", "REQUEST_UPDATE", "REQUEST_UPDATE", "REQUEST_UPDATE", "REQUEST_UPDATE"},
		0x03:      same("SUBSCRIBE"),
		0x04:      same("SUBSCRIBE_OK"),
		0x05:      {"SUBSCRIBE_ERROR", "REQUEST_ERROR", "REQUEST_ERROR", "REQUEST_ERROR", "REQUEST_ERROR", "REQUEST_ERROR", "REQUEST_ERROR", "REQUEST_ERROR", "REQUEST_ERROR"},
		0x06:      same("PUBLISH_NAMESPACE"),
		0x07:      {"PUBLISH_NAMESPACE_OK", "REQUEST_OK", "REQUEST_OK", "REQUEST_OK", "REQUEST_OK", "REQUEST_OK", "REQUEST_OK", "REQUEST_OK", "REQUEST_OK"},
		0x08:      {"PUBLISH_NAMESPACE_ERROR", "", "NAMESPACE", "NAMESPACE", "NAMESPACE", "NAMESPACE", "NAMESPACE", "NAMESPACE", "NAMESPACE"},
		0x09:      until16("PUBLISH_NAMESPACE_DONE"),
		0x0a:      until16("UNSUBSCRIBE"),
		0x0b:      same("PUBLISH_DONE"),
		0x0c:      until16("PUBLISH_NAMESPACE_CANCEL"),
		0x0d:      same("TRACK_STATUS"),
		0x0e:      {"TRACK_STATUS_OK", "", "NAMESPACE_DONE", "NAMESPACE_DONE", "NAMESPACE_DONE", "NAMESPACE_DONE", "NAMESPACE_DONE", "NAMESPACE_DONE", "NAMESPACE_DONE"},
		0x0f:      {"TRACK_STATUS_ERROR", "", "", "PUBLISH_BLOCKED", "PUBLISH_BLOCKED", "PUBLISH_SKIPPED", "PUBLISH_SKIPPED", "PUBLISH_SKIPPED", "PUBLISH_SKIPPED"},
		0x10:      same("GOAWAY"),
		0x11:      {"SUBSCRIBE_NAMESPACE", "SUBSCRIBE_NAMESPACE", "SUBSCRIBE_NAMESPACE", "SUBSCRIBE_NAMESPACE"},
		0x12:      {"SUBSCRIBE_NAMESPACE_OK"},
		0x13:      {"SUBSCRIBE_NAMESPACE_ERROR"},
		0x14:      {"UNSUBSCRIBE_NAMESPACE", "UNSUBSCRIBE_NAMESPACE"},
		0x15:      until16("MAX_REQUEST_ID"),
		0x16:      same("FETCH"),
		0x17:      until16("FETCH_CANCEL"),
		0x18:      same("FETCH_OK"),
		0x19:      {"FETCH_ERROR"},
		0x1a:      until16("REQUESTS_BLOCKED"),
		0x1d:      same("PUBLISH"),
		0x1e:      {"PUBLISH_OK", "PUBLISH_OK", "PUBLISH_OK", "PUBLISH_OK"},
		0x1f:      {"PUBLISH_ERROR"},
		0x20:      until16("CLIENT_SETUP"),
		0x21:      until16("SERVER_SETUP"),
		0x22:      {6: "PUBLISH_STATE_NOTIFY", 7: "PUBLISH_STATE_NOTIFY", 8: "PUBLISH_STATE_NOTIFY"},
		0x50:      {4: "SUBSCRIBE_NAMESPACE", 5: "SUBSCRIBE_NAMESPACE", 6: "SUBSCRIBE_NAMESPACE", 7: "SUBSCRIBE_NAMESPACE", 8: "SUBSCRIBE_NAMESPACE"},
		0x51:      {4: "SUBSCRIBE_TRACKS", 5: "SUBSCRIBE_TRACKS", 6: "SUBSCRIBE_TRACKS", 7: "SUBSCRIBE_TRACKS", 8: "SUBSCRIBE_TRACKS"},
		typeSetup: {3: "SETUP", 4: "SETUP", 5: "SETUP", 6: "SETUP", 7: "SETUP", 8: "SETUP"},
	}
	for v := Draft14; v <= Draft22; v++ {
		for _, n := range append(sequence(0x100), uint64(typeSetup)) {
			kind := Type(n)
			if got := kind.Name(v); got != want[kind][v-Draft14] {
				t.Errorf("%s: type %#x is %q, want %q", v, n, got, want[kind][v-Draft14])
			}
			if _, err := Decode(kind, nil, Dialect{Version: v}); kind.Name(v) == "" && !errors.Is(err, wire.ErrValue) {
				t.Errorf("%s: type %#x: %v, want %v", v, n, err, wire.ErrValue)
			}
		}
	}
}

// everything has a message of every struct, filled to the brim.
func everything() []Message {
	track := Track{TrackNamespace{"live", "cam"}, "video"}
	properties := Properties{{ID: PropertyTimescale, Number: 1000}, {ID: PropertyImmutable, Bytes: []byte{0x10, 1}}, {ID: 0x7f9d + 0x7f, Number: 300}}
	p := allParams()
	return []Message{
		Subscribe{1 << 20, track, p}, TrackStatus{6, track, p}, SubscribeOK{4, 1 << 40, p, properties},
		RequestOK{ForAny, 4, p, properties}, RequestOK{ForPublish, 4, p, properties}, RequestOK{ForTrackStatus, 4, p, properties},
		RequestOK{ForPublishNamespace, 4, Params{}, nil}, RequestOK{ForSubscribeNamespace, 4, Params{}, nil},
		RequestError{ForSubscribe, 4, InvalidRange, 0, Some(time.Second), "no", Redirect{}},
		RequestError{ForTrackStatus, 4, NotSupported, 0, Optional[time.Duration]{}, "", Redirect{}},
		RequestError{ForFetch, 4, OtherRequestCode, 404, Some(time.Duration(0)), "", Redirect{}},
		RequestError{ForPublish, 4, Redirected, 0, Optional[time.Duration]{}, "moved", Redirect{"moqt://b.example", track}},
		RequestUpdate{8, 4, p}, Publish{1, track, 7, p, properties},
		PublishDone{4, DoneExpired, 0, Some[uint64](3), "late"}, PublishDone{4, OtherDone, 99, Optional[uint64]{}, ""},
		PublishNamespace{1, track.Namespace, p.Tokens, Route{[]uint64{1, 0, 2}, 5}},
		PublishNamespaceDone{1, track.Namespace}, PublishNamespaceCancel{1, track.Namespace, Uninterested, 0, "no"},
		SubscribeNamespace{2, track.Namespace, WantBoth, p}, SubscribeTracks{2, nil, p}, UnsubscribeNamespace{RequestID: 2},
		Namespace{track.Namespace, Route{[]uint64{1}, 0}}, NamespaceDone{track.Namespace}, PublishSkipped{track},
		Fetch{4, FetchStandalone, track, Filter{FilterAbsolute, 0, Location{7, 3}, Some[uint64](9), Some[uint64](4)}, 0, 0, p},
		Fetch{4, FetchRelativeJoining, track, Filter{}, 2, 3, p}, Fetch{4, FetchAbsoluteJoining, track, Filter{}, 2, 3, p},
		FetchOK{4, true, End{9, Some[uint64](4)}, p, properties}, FetchOK{4, false, End{9, Optional[uint64]{}}, p, properties},
		Goaway{"https://b.example/", 5 * time.Second, Some[uint64](8)}, PublishStateNotify{p},
		Unsubscribe{4}, FetchCancel{4}, MaxRequestID{1 << 32}, RequestsBlocked{4}, allOptions(),
	}
}

// Every message survives in every draft that has it: what was written reads,
// and reads the same when it is written again.
func TestEveryMessageInEveryDraft(t *testing.T) {
	for v := Draft14; v <= Draft22; v++ {
		for _, cluster := range []bool{false, true} {
			d := Dialect{Version: v, Cluster: cluster}
			for _, m := range everything() {
				if !renumbered(m, v) {
					checkTwice(t, d, m)
				}
			}
		}
	}
}

// renumbered reports whether the type of a message is another message's in a
// draft that lacks it.
func renumbered(m Message, v Version) bool {
	switch m.(type) {
	case Namespace, NamespaceDone, PublishSkipped:
		return v == Draft14
	default:
		return false
	}
}

func checkTwice(t *testing.T, d Dialect, m Message) {
	t.Helper()
	b := m.Append([]byte("ahead"), d)[5:]
	if len(b) == 0 {
		return // 14 has no answer to updates
	}
	kind, body := readWhole(t, b, d.Version)
	if kind.kind(d.Version) == nil {
		return
	}
	got, err := Decode(kind, body, d)
	if err != nil {
		t.Errorf("%+v: %+v: %v", d, m, err)
		return
	}
	if again := got.Append(nil, d); !bytes.Equal(again, b) {
		t.Errorf("%+v: %+v: %x is written again as %x", d, got, b, again)
	}
}

// Fields that only some drafts have, or have in another form.
func TestDraftLayouts(t *testing.T) {
	none := Optional[time.Duration]{}
	tests := []struct {
		v    Version
		m    Message
		want string
	}{
		{Draft14, SubscribeOK{2, 3, Params{Expires: Some(time.Second), GroupOrder: Ascending}, nil}, "04" + "0007" + "02" + "03" + "43e8" + "01" + "00" + "00"},
		{Draft14, RequestOK{ForTrackStatus, 2, Params{Largest: Some(Location{7, 3})}, nil}, "0e" + "0008" + "02" + "00" + "00" + "00" + "01" + "0703" + "00"},
		{Draft14, RequestOK{For: ForAny}, ""},
		{Draft14, RequestError{For: ForAny}, ""},
		{Draft14, RequestOK{For: ForSubscribe}, ""},
		{Draft14, RequestUpdate{4, 2, Params{Filter: Some(Filter{Kind: FilterAbsolute, Start: Location{1, 2}, EndGroup: Some[uint64](3)})}}, "02" + "0008" + "0402" + "0102" + "04" + "80" + "01" + "00"},
		{Draft14, RequestUpdate{4, 2, Params{Filter: Some(Filter{Kind: FilterNextObject})}}, "02" + "0008" + "0402" + "0000" + "00" + "80" + "01" + "00"},
		{Draft14, RequestError{ForTrackStatus, 2, DoesNotExist, 0, Some(time.Second), "", Redirect{}}, "0f" + "0003" + "02" + "04" + "00"},
		{Draft15, RequestError{ForTrackStatus, 2, DoesNotExist, 0, Some(time.Second), "", Redirect{}}, "05" + "0003" + "02" + "10" + "00"},
		{Draft16, RequestError{ForTrackStatus, 2, DoesNotExist, 0, Some(time.Second), "", Redirect{}}, "05" + "0005" + "02" + "10" + "43e9" + "00"},
		{Draft16, RequestError{ForAny, 2, DoesNotExist, 0, Some(time.Duration(0)), "", Redirect{}}, "05" + "0004" + "02" + "10" + "01" + "00"},
		{Draft17, RequestError{ForAny, 2, Redirected, 0, none, "", Redirect{URI: "x"}}, "05" + "0003" + "00" + "00" + "00"},
		{Draft18, RequestError{ForAny, 2, Redirected, 0, none, "", Redirect{URI: "x"}}, "05" + "0007" + "34" + "00" + "00" + "0178" + "00" + "00"},
		{Draft15, PublishNamespaceCancel{1, TrackNamespace{"a"}, Uninterested, 0, ""}, "0c" + "0005" + "010161" + "20" + "00"},
		{Draft16, PublishNamespaceCancel{1, TrackNamespace{"a"}, Uninterested, 0, ""}, "0c" + "0003" + "01" + "20" + "00"},
		{Draft16, PublishDone{2, DoneTrackEnded, 0, Optional[uint64]{}, ""}, "0b" + "000b" + "02" + "02" + "ffffffffffffffff" + "00"},
		{Draft19, PublishDone{2, DoneTrackEnded, 0, Optional[uint64]{}, ""}, "0b" + "000b" + "02" + "ff3fffffffffffffff" + "00"},
		{Draft20, PublishDone{2, DoneTrackEnded, 0, Optional[uint64]{}, ""}, "0b" + "000b" + "02" + "ffffffffffffffffff" + "00"},
		{Draft16, Goaway{"", time.Second, Some[uint64](4)}, "10" + "0001" + "00"},
		{Draft18, Goaway{"", time.Second, Optional[uint64]{}}, "10" + "0003" + "00" + "83e8"},
		{Draft18, Goaway{"", time.Second, Some[uint64](4)}, "10" + "0004" + "00" + "83e8" + "04"},
		{Draft19, Goaway{"", time.Second, Some[uint64](4)}, "10" + "0003" + "00" + "83e8"},
		{Draft19, FetchOK{End: End{9, Some[uint64](4)}}, "18" + "0004" + "00" + "0905" + "00"},
		{Draft19, FetchOK{End: End{9, Optional[uint64]{}}}, "18" + "0004" + "00" + "0900" + "00"},
		{Draft20, FetchOK{End: End{9, Some[uint64](4)}}, "18" + "0004" + "00" + "0904" + "00"},
		{Draft14, UnsubscribeNamespace{RequestID: 300}, "14" + "0002" + "412c"},
		{Draft18, Namespace{nil, Route{HopPath: []uint64{7}}}, "08" + "0001" + "00"}, // no extension negotiated
	}
	for _, tt := range tests {
		d := Dialect{Version: tt.v}
		if got := hex.EncodeToString(tt.m.Append(nil, d)); got != tt.want {
			t.Errorf("%s: %+v is written %s, want %s", tt.v, tt.m, got, tt.want)
		}
		if tt.want != "" {
			checkTwice(t, d, tt.m)
		}
	}
}

// "14 S says prefix ns; R and J send rid on 14 too · 15 rid."
func TestUnsubscribeNamespaceByPrefix(t *testing.T) {
	tests := []struct {
		v    Version
		body string
		want UnsubscribeNamespace
		err  error
	}{
		{Draft14, "00", UnsubscribeNamespace{RequestID: 0}, nil},
		{Draft14, "412c", UnsubscribeNamespace{RequestID: 300}, nil},
		{Draft14, "010161", UnsubscribeNamespace{Prefix: TrackNamespace{"a"}}, nil},
		{Draft14, "0261", UnsubscribeNamespace{}, wire.ErrShort},
		{Draft15, "010161", UnsubscribeNamespace{}, wire.ErrTrailing},
		{Draft14, "", UnsubscribeNamespace{}, wire.ErrShort},
	}
	for _, tt := range tests {
		body, err := hex.DecodeString(tt.body)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Decode(typeUnsubscribeNamespace, body, Dialect{Version: tt.v})
		if !errors.Is(err, tt.err) || err == nil && !cmp.Equal(got, Message(tt.want)) {
			t.Errorf("%s: Decode(%s) = %+v, %v, want %+v, %v", tt.v, tt.body, got, err, tt.want, tt.err)
		}
	}
}

func TestMessagesRefused(t *testing.T) {
	tests := []struct {
		name string
		v    Version
		kind Type
		body string
		want error
	}{
		{"forward 2", Draft14, typeSubscribe, "02" + "00" + "00" + "80" + "00" + "02" + "02" + "00", wire.ErrValue},
		{"group order 3", Draft14, typeSubscribe, "02" + "00" + "00" + "80" + "03" + "01" + "02" + "00", wire.ErrValue},
		{"filter 9", Draft14, typeSubscribe, "02" + "00" + "00" + "80" + "00" + "01" + "09" + "00", wire.ErrValue},
		{"content 2", Draft14, typeSubscribeOK, "02" + "02" + "00" + "01" + "02" + "00", wire.ErrValue},
		{"range backwards", Draft14, typeRequestUpdate, "0402" + "0500" + "05" + "80" + "01" + "00", wire.ErrValue},
		{"fetch type 4", Draft16, typeFetch, "02" + "04" + "0000" + "00", wire.ErrValue},
		{"fetch type 0", Draft19, typeFetch, "02" + "00" + "0000" + "00", wire.ErrValue},
		{"end of track 2", Draft16, typeFetchOK, "02" + "02" + "0000" + "00", wire.ErrValue},
		{"options 3", Draft16, typeSubscribeNamespace, "02" + "00" + "03" + "00", wire.ErrValue},
		{"no reason", Draft17, typePublishDone, "02" + "03" + "05", wire.ErrShort},
		{"reason not UTF-8", Draft17, typePublishDone, "02" + "03" + "01ff", wire.ErrUTF8},
		{"reason too long", Draft17, typePublishDone, "02" + "03" + "8401", wire.ErrTooLarge},
		{"URI too long", Draft17, typeGoaway, "a001", wire.ErrTooLarge},
		{"parameters after a namespace", Draft16, typeNamespace, "00" + "00", wire.ErrTrailing},
		{"a request id on 19", Draft19, typeGoaway, "00" + "00" + "04", wire.ErrTrailing},
	}
	for _, tt := range tests {
		body, err := hex.DecodeString(tt.body)
		if err != nil {
			t.Fatal(err)
		}
		if m, err := Decode(tt.kind, body, Dialect{Version: tt.v}); !errors.Is(err, tt.want) {
			t.Errorf("%s: %+v, %v, want %v", tt.name, m, err, tt.want)
		}
	}
}

// The count that means "unknown" moved with the largest integer; what is above
// it on 17 to 19 is no count either.
func TestUnknownStreams(t *testing.T) {
	for v := Draft14; v <= Draft22; v++ {
		enc := v.Encoding()
		for _, n := range []uint64{wire.MaxVarint - 1, wire.MaxVarint, math.MaxUint64 - 1, math.MaxUint64} {
			if n > wire.MaxVarint && enc == wire.QUIC {
				continue
			}
			d := Dialect{Version: v}
			body := enc.AppendVarint(append(d.appendAnswerID(nil, 0), 2), n)
			m, err := Decode(typePublishDone, append(body, 0), d)
			if err != nil {
				t.Fatal(err)
			}
			unknown := n == math.MaxUint64 || v < Draft20 && n >= wire.MaxVarint
			if got := m.(PublishDone).Streams; got.OK == unknown || got.OK && got.V != n {
				t.Errorf("%s: %d streams: %+v", v, n, got)
			}
		}
	}
}
