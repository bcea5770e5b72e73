package lite

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// appender is what every message is.
type appender interface {
	Append(b []byte, v Version) []byte
}

// message is how the tests handle one message of the protocol.
type message struct {
	build  func(f fields, v Version) appender
	decode func(body []byte, v Version) (appender, error)
	read   func(r wire.ByteReader, v Version) (body []byte, err error)
}

func untyped[M appender](build func(fields, Version) M, decode func([]byte, Version) (M, error)) message {
	return message{
		build:  func(f fields, v Version) appender { return build(f, v) },
		decode: func(body []byte, v Version) (appender, error) { return decode(body, v) },
		read:   func(r wire.ByteReader, v Version) ([]byte, error) { return ReadBody(r, v, nil) },
	}
}

func announcement[M appender](want AnnounceType, build func(fields, Version) M, decode func([]byte, Version) (M, error)) message {
	m := untyped(build, decode)
	m.read = func(r wire.ByteReader, v Version) ([]byte, error) {
		got, body, err := ReadAnnounce(r, v, nil)
		if err == nil && got != want {
			return nil, errors.New("another announcement")
		}
		return body, err
	}
	return m
}

func answer[M appender](want SubscribeAnswer, build func(fields, Version) M, decode func([]byte, Version) (M, error)) message {
	m := untyped(build, decode)
	m.read = func(r wire.ByteReader, v Version) ([]byte, error) {
		got, body, err := ReadSubscribeAnswer(r, v, nil)
		if err == nil && got != want {
			return nil, errors.New("another answer")
		}
		return body, err
	}
	return m
}

// messages holds every message that has a length around it.
var messages = map[string]message{
	"SETUP": untyped(func(f fields, v Version) Setup {
		f.take("order", new([]string)) // ours is the same
		return Setup{
			Probe: ProbeLevel(f.uint("probe")), Path: f.string("path"), Role: Role(f.uint("role")),
			Cost: f.optional("cost"), Hop: f.uint("hop"),
		}
	}, DecodeSetup),
	"ANNOUNCE_REQUEST": untyped(func(f fields, v Version) AnnounceRequest {
		return AnnounceRequest{Prefix: f.string("prefix"), ExcludeHop: f.uint("exclude_hop"), Hidden: f.bool("hidden")}
	}, DecodeAnnounceRequest),
	"ANNOUNCE_OK": untyped(func(f fields, v Version) AnnounceOK {
		return AnnounceOK{Hop: f.uint("hop"), Active: f.uint("active")}
	}, DecodeAnnounceOK),
	"ANNOUNCE_INIT": untyped(func(f fields, v Version) (m AnnounceInit) {
		if f.take("suffixes", &m.Suffixes); len(m.Suffixes) == 0 {
			m.Suffixes = nil
		}
		return m
	}, DecodeAnnounceInit),
	"ANNOUNCE": untyped(func(f fields, v Version) Announce {
		m := Announce{Active: f.string("status") == "active", Suffix: f.string("suffix"), Hops: f.hops("hops")}
		if n := f.uint("hop_count"); n > 0 {
			m.Hops = make([]uint64, n)
		}
		return m
	}, DecodeAnnounce),
	"ANNOUNCE_START":   announcement(TypeAnnounceStart, buildStart, DecodeAnnounceStart),
	"ANNOUNCE_UPDATE":  announcement(TypeAnnounceUpdate, buildUpdate, DecodeAnnounceUpdate),
	"ANNOUNCE_RESTART": announcement(TypeAnnounceUpdate, buildUpdate, DecodeAnnounceUpdate),
	"ANNOUNCE_END": announcement(TypeAnnounceEnd, func(f fields, v Version) AnnounceEnd {
		return AnnounceEnd{ID: f.uint("id")}
	}, DecodeAnnounceEnd),
	"TRACK": untyped(func(f fields, v Version) Track {
		return Track{Broadcast: f.string("broadcast"), Name: f.string("track")}
	}, DecodeTrack),
	"TRACK_INFO": untyped(func(f fields, v Version) TrackInfo {
		f.uint("ordered")
		return TrackInfo{Priority: uint8(f.uint("priority")), MaxAge: f.millis("max_age_ms"), Timescale: f.uint("timescale")}
	}, DecodeTrackInfo),
	"SUBSCRIBE": untyped(func(f fields, v Version) Subscribe {
		return Subscribe{
			ID: f.uint("id"), Broadcast: f.string("broadcast"), Track: f.string("track"), Preferences: buildPreferences(f, v),
		}
	}, DecodeSubscribe),
	"SUBSCRIBE_UPDATE": untyped(func(f fields, v Version) SubscribeUpdate {
		return SubscribeUpdate{buildPreferences(f, v)}
	}, DecodeSubscribeUpdate),
	"SUBSCRIBE_OK": answer(AnswerOK, func(f fields, v Version) SubscribeOK {
		return SubscribeOK{buildPreferences(f, v)}
	}, DecodeSubscribeOK),
	"SUBSCRIBE_START": answer(AnswerStart, func(f fields, v Version) SubscribeStart {
		return SubscribeStart{Group: f.uint("group")}
	}, DecodeSubscribeStart),
	"SUBSCRIBE_END": answer(AnswerEnd, func(f fields, v Version) SubscribeEnd {
		return SubscribeEnd{Group: f.uint("group_exclusive"), Streams: f.uint("streams")}
	}, DecodeSubscribeEnd),
	"SUBSCRIBE_DROP": answer(AnswerDrop, func(f fields, v Version) SubscribeDrop {
		return SubscribeDrop{First: f.uint("start"), Last: f.uint("end"), Code: f.uint("error")}
	}, DecodeSubscribeDrop),
	"GROUP": untyped(func(f fields, v Version) GroupHeader {
		return GroupHeader{Subscribe: f.uint("subscribe"), Sequence: f.uint("sequence"), FrameStart: f.uint("frame_start")}
	}, DecodeGroupHeader),
	"FETCH": untyped(func(f fields, v Version) Fetch {
		return Fetch{
			Broadcast: f.string("broadcast"), Track: f.string("track"), Priority: uint8(f.uint("priority")), Group: f.uint("group"),
			FrameStart: f.uint("frame_start"), FrameEnd: f.optional("frame_end"),
		}
	}, DecodeFetch),
	"PROBE": untyped(buildProbe, DecodeProbe),
	"GOAWAY": untyped(func(f fields, v Version) Goaway {
		return Goaway{URI: f.string("uri")}
	}, DecodeGoaway),
	"SESSION_INFO": untyped(func(f fields, v Version) SessionInfo {
		return SessionInfo{Bitrate: f.uint("bitrate")}
	}, DecodeSessionInfo),
}

func buildCost(f fields, v Version) Cost {
	if v == V06WIP {
		c := f.uint("cost")
		return Cost{Warm: c, Cold: c}
	}
	return Cost{Warm: f.uint("cost_warm"), Cold: f.uint("cost_cold")}
}

func buildStart(f fields, v Version) AnnounceStart {
	return AnnounceStart{Suffix: f.string("suffix"), Hops: f.hops("hops"), Cost: buildCost(f, v)}
}

func buildUpdate(f fields, v Version) AnnounceUpdate {
	return AnnounceUpdate{ID: f.uint("id"), Hops: f.hops("hops"), Cost: buildCost(f, v)}
}

func buildPreferences(f fields, v Version) Preferences {
	f.uint("ordered")
	p := Preferences{
		Priority: uint8(f.uint("priority")), MaxAge: f.millis("max_age_ms"),
		GroupStart: f.optional("group_start"), GroupEnd: f.optional("group_end"),
		FrameStart: f.uint("frame_start"), FrameEnd: f.optional("frame_end"),
	}
	if v.HasFrameBounds() && p.GroupStart.V == 0 { // absent and 0 are one byte there
		p.GroupStart.OK = p.FrameStart != 0
	}
	return p
}

// "0 = unknown; a measured 0 is written 1."
func buildProbe(f fields, v Version) (m Probe) {
	if bitrate := f.optional("bitrate"); bitrate.OK {
		m.Bitrate = max(bitrate.V, 1)
	}
	if rtt := f.optional("rtt_ms"); rtt.OK {
		m.RTT = max(time.Duration(rtt.V), 1) * time.Millisecond
	}
	return m
}

// checkMessage checks one row of a framed message in both directions, that
// nothing shorter passes for it, and nothing longer.
func checkMessage(t *testing.T, row vector, m message) {
	v, whole := row.version(t), row.bytes(t)
	if _, ok := row.Fields["path_base"]; ok || row.Fields["hop_base"] != nil {
		m = compressedMessages[row.Message]
	}
	f := fields{t, row.Fields}
	want := m.build(f, v)
	if len(f.left) > 0 {
		t.Fatalf("fields left unchecked: %v", f.left)
	}
	_, emptyPath := want.(Setup)
	emptyPath = emptyPath && row.Hex == "03010200" // a peer may send it; we leave the parameter out
	if got := want.Append([]byte("ahead"), v); !emptyPath && !bytes.Equal(got, append([]byte("ahead"), whole...)) {
		t.Errorf("%+v.Append = %x, want %x", want, got[5:], whole)
	}
	r := bytes.NewReader(whole)
	body, err := m.read(r, v)
	if err != nil || r.Len() > 0 {
		t.Fatalf("read %x: %v, %d bytes left", whole, err, r.Len())
	}
	got, err := m.decode(body, v)
	if err != nil {
		t.Fatalf("Decode(%x): %v", body, err)
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(compressedStart{}, compressedUpdate{}, compressedPath{}, compressedHops{})); diff != "" {
		t.Errorf("Decode(%x): -want +got\n%s", body, diff)
	}
	checkCuts(t, m, v, whole, body)
}

func checkCuts(t *testing.T, m message, v Version, whole, body []byte) {
	t.Helper()
	for i := range whole {
		want := io.ErrUnexpectedEOF
		if i == 0 {
			want = io.EOF
		}
		if _, err := m.read(bytes.NewReader(whole[:i]), v); err != want {
			t.Errorf("read %x: %v, want %v", whole[:i], err, want)
		}
	}
	for i := range body {
		if _, err := m.decode(body[:i], v); !errors.Is(err, wire.ErrShort) {
			t.Errorf("Decode(%x): %v, want %v", body[:i], err, wire.ErrShort)
		}
	}
	if _, err := m.decode(append(body[:len(body):len(body)], 0), v); !errors.Is(err, wire.ErrTrailing) {
		t.Errorf("Decode(%x 00): %v, want %v", body, err, wire.ErrTrailing)
	}
}

// A decode error says which message it was.
func TestDecodeErrorsNameTheMessage(t *testing.T) {
	for name, m := range messages {
		if name == "ANNOUNCE_RESTART" {
			name = "ANNOUNCE_UPDATE"
		}
		if _, err := m.decode(bytes.Repeat([]byte{1}, 300), V06); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
