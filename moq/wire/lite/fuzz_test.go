package lite

import (
	"bytes"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// fuzzMessages fuzzes the bodies of a family of messages: what decodes must,
// written again, decode to the same.
func fuzzMessages(f *testing.F, names ...string) {
	for _, row := range readVectors(f, "lite.json") {
		which := slices.Index(names, row.Message)
		if which < 0 {
			continue
		}
		v := row.version(f)
		body, err := messages[row.Message].read(bytes.NewReader(row.bytes(f)), v)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(which), uint8(v), body)
	}
	f.Fuzz(func(t *testing.T, which, version uint8, body []byte) {
		v := V01 + Version(version)%V07WIP
		m := messages[names[int(which)%len(names)]]
		got, err := m.decode(body, v)
		if err != nil || !onWire(got, v) {
			return
		}
		again, err := m.read(bytes.NewReader(got.Append(nil, v)), v)
		if err != nil {
			t.Fatalf("%s: %+v does not read again: %v", v, got, err)
		}
		if same, err := m.decode(again, v); err != nil || !reflect.DeepEqual(got, same) {
			t.Fatalf("%s: %+v reads again as %+v, %v", v, got, same, err)
		}
	})
}

// onWire reports whether a message exists on a version and can be framed there.
func onWire(m appender, v Version) bool {
	switch m.(type) {
	case AnnounceStart, AnnounceUpdate, AnnounceEnd:
		return v.HasAnnounceIDs()
	case SubscribeOK:
		return v <= V04
	case SubscribeStart, SubscribeEnd:
		return v >= V05
	case SubscribeDrop:
		return V03 <= v && v <= V06
	default:
		return true
	}
}

func FuzzSetup(f *testing.F) { fuzzMessages(f, "SETUP", "GOAWAY", "PROBE", "SESSION_INFO") }

func FuzzAnnounce(f *testing.F) {
	fuzzMessages(f, "ANNOUNCE_REQUEST", "ANNOUNCE_OK", "ANNOUNCE", "ANNOUNCE_END")
}

func FuzzSubscribe(f *testing.F) {
	fuzzMessages(f, "SUBSCRIBE", "SUBSCRIBE_UPDATE", "SUBSCRIBE_OK", "SUBSCRIBE_START", "SUBSCRIBE_END", "SUBSCRIBE_DROP")
}

func FuzzRequest(f *testing.F) { fuzzMessages(f, "TRACK", "TRACK_INFO", "FETCH") }

// FuzzAnnounceStream reads whole announce streams. What an expander makes of
// one, a compressor writes so that it expands to the same.
func FuzzAnnounceStream(f *testing.F) {
	for _, row := range readVectors(f, "lite.json") {
		switch row.Message {
		case "announce-stream-compressed", "ANNOUNCE_START":
			f.Add(uint8(row.version(f)), row.bytes(f))
		}
	}
	f.Fuzz(func(t *testing.T, version uint8, b []byte) {
		v := V06WIP + Version(version)%3
		x, c, again := NewAnnounceExpander(v), NewAnnounceCompressor(v), NewAnnounceExpander(v)
		for r := bytes.NewReader(b); ; {
			m, err := readExpanded(x, r, v)
			if err != nil {
				return
			}
			same, err := readExpanded(again, bytes.NewReader(appendCompressed(c, nil, m)), v)
			if diff := cmp.Diff(m, same, cmpopts.EquateEmpty()); diff != "" || err != nil {
				t.Fatalf("%s: %v: -first +again\n%s", v, err, diff)
			}
		}
	})
}

// FuzzGroupStream parses a group stream, and the same bytes as a datagram.
func FuzzGroupStream(f *testing.F) {
	for _, row := range readVectors(f, "lite.json") {
		switch row.Message {
		case "uni-stream GROUP+FRAMEs+FIN":
			f.Add(uint8(row.version(f)), row.bytes(f)[1:])
		case "GROUP", "DATAGRAM":
			f.Add(uint8(row.version(f)), row.bytes(f))
		}
	}
	f.Fuzz(func(t *testing.T, version uint8, b []byte) {
		v := V01 + Version(version)%V07WIP
		if d, err := DecodeDatagram(b, v); err == nil {
			same, err := DecodeDatagram(d.Append(nil, v), v)
			if diff := cmp.Diff(d, same, cmpopts.EquateEmpty()); diff != "" || err != nil {
				t.Fatalf("%s: datagram %v: -first +again\n%s", v, err, diff)
			}
		}
		h, n, err := ParseGroupHeader(b, v)
		if n == 0 || err != nil {
			return
		}
		if same, _, err := ParseGroupHeader(h.Append(nil, v), v); same != h || err != nil {
			t.Fatalf("%s: %+v reads again as %+v, %v", v, h, same, err)
		}
		fuzzFrames(t, v, b[n:])
	})
}

func fuzzFrames(t *testing.T, v Version, b []byte) {
	for {
		delta, size, n, err := ParseFrameHeader(b, v)
		if n == 0 || err != nil {
			return
		}
		d, s, _, err := ParseFrameHeader(AppendFrameHeader(nil, v, delta, size), v)
		if d != delta || s != size || err != nil {
			t.Fatalf("%s: frame %d %d reads again as %d %d, %v", v, delta, size, d, s, err)
		}
		b = b[n+min(int(size), len(b)-n):]
	}
}

// FuzzMoqlSetup reads the messages of the "moql" negotiation, and the list that
// announcements on 01 and 02 start with.
func FuzzMoqlSetup(f *testing.F) {
	for _, row := range readVectors(f, "lite.json") {
		switch row.Message {
		case "CLIENT_SETUP", "SERVER_SETUP", "ANNOUNCE_INIT":
			f.Add(row.bytes(f))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := ReadClientSetup(bytes.NewReader(b)); err == nil {
			if same, err := ReadClientSetup(bytes.NewReader(m.Append(nil))); err != nil || !cmp.Equal(m, same, cmpopts.EquateEmpty()) {
				t.Fatalf("%+v reads again as %+v, %v", m, same, err)
			}
		}
		if m, err := ReadServerSetup(bytes.NewReader(b)); err == nil {
			if same, err := ReadServerSetup(bytes.NewReader(m.Append(nil))); err != nil || !cmp.Equal(m, same, cmpopts.EquateEmpty()) {
				t.Fatalf("%+v reads again as %+v, %v", m, same, err)
			}
		}
		if m, err := DecodeAnnounceInit(b, V02); err == nil {
			body, err := wire.ReadMessage(bytes.NewReader(m.Append(nil, V02)), wire.QUIC, MaxMessage, nil)
			if err != nil {
				t.Fatal(err)
			}
			if same, err := DecodeAnnounceInit(body, V02); err != nil || !cmp.Equal(m, same) {
				t.Fatalf("%+v reads again as %+v, %v", m, same, err)
			}
		}
	})
}
