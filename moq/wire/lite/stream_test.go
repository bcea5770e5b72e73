package lite

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func checkBidiStream(t *testing.T, row vector) {
	types := map[string]BidiStream{
		"SESSION": StreamSession, "ANNOUNCE": StreamAnnounce, "SUBSCRIBE": StreamSubscribe, "FETCH": StreamFetch,
		"PROBE": StreamProbe, "GOAWAY": StreamGoaway, "TRACK": StreamTrack,
	}
	v, name := row.version(t), fields{t, row.Fields}.string("type")
	kind, ok := types[name]
	if !ok {
		t.Fatalf("no stream type %q", name)
	}
	if got := kind.Append(nil, v); !bytes.Equal(got, row.bytes(t)) {
		t.Errorf("%s.Append = %x, want %s", name, got, row.Hex)
	}
	if got, want := kind.In(v), kind != StreamSession; got != want {
		t.Errorf("%s.In(%s) = %t, want %t", name, v, got, want)
	}
}

func checkUniStream(t *testing.T, row vector) {
	types := map[string]UniStream{"GROUP": StreamGroup, "SETUP": StreamSetup}
	v, name := row.version(t), fields{t, row.Fields}.string("type")
	kind, ok := types[name]
	if !ok {
		t.Fatalf("no stream type %q", name)
	}
	if got := kind.Append(nil, v); !bytes.Equal(got, row.bytes(t)) || !kind.In(v) {
		t.Errorf("%s.Append = %x, want %s", name, got, row.Hex)
	}
}

// The first version of each stream type (§4).
func TestStreamSince(t *testing.T) {
	since := map[BidiStream]Version{
		StreamAnnounce: V01, StreamSubscribe: V01, StreamProbe: V03, StreamGoaway: V04, StreamFetch: V05, StreamTrack: V05,
	}
	for v := V01; v <= V07WIP; v++ {
		for kind, first := range since {
			if got, want := kind.In(v), v >= first; got != want {
				t.Errorf("bidi %d on %s: %t, want %t", kind, v, got, want)
			}
		}
		if got, want := StreamSetup.In(v), v >= V05; got != want {
			t.Errorf("setup on %s: %t, want %t", v, got, want)
		}
		if !StreamGroup.In(v) || StreamSession.In(v) || BidiStream(7).In(v) || UniStream(2).In(v) {
			t.Errorf("%s: group %t, session %t, bidi 7 %t, uni 2 %t", v,
				StreamGroup.In(v), StreamSession.In(v), BidiStream(7).In(v), UniStream(2).In(v))
		}
	}
}

// frame is a frame of a group stream row; before 05 its bytes alone.
type frame struct {
	Time number `json:"ts"`
	Hex  string `json:"hex"`
}

func (f *frame) UnmarshalJSON(b []byte) error {
	if b[0] == '"' {
		return json.Unmarshal(b, &f.Hex)
	}
	type plain frame
	return json.Unmarshal(b, (*plain)(f))
}

func checkGroupStream(t *testing.T, row vector) {
	v, whole, f := row.version(t), row.bytes(t), fields{t, row.Fields}
	header := GroupHeader{Subscribe: f.uint("subscribe"), Sequence: f.uint("sequence"), FrameStart: f.uint("frame_start")}
	var frames []frame
	f.take("frames", &frames)

	sent, prev := AppendGroupStream(nil, v, header), uint64(0)
	for _, fr := range frames {
		payload, err := hex.DecodeString(fr.Hex)
		if err != nil {
			t.Fatal(err)
		}
		delta, ok := FrameDelta(prev, uint64(fr.Time))
		if !ok {
			t.Fatalf("no delta from %d to %d", prev, fr.Time)
		}
		sent = append(AppendFrameHeader(sent, v, delta, uint64(len(payload))), payload...)
		prev = uint64(fr.Time)
	}
	if !bytes.Equal(sent, whole) {
		t.Errorf("wrote %x, want %x", sent, whole)
	}
	gotHeader, gotFrames := parseGroupStream(t, v, whole)
	if diff := cmp.Diff(header, gotHeader); diff != "" {
		t.Errorf("header: -want +got\n%s", diff)
	}
	if diff := cmp.Diff(frames, gotFrames); diff != "" {
		t.Errorf("frames: -want +got\n%s", diff)
	}
}

// parseGroupStream reads a group stream as a session does, a byte more at a time.
func parseGroupStream(t *testing.T, v Version, b []byte) (h GroupHeader, frames []frame) {
	t.Helper()
	kind, n, err := v.Encoding().Parse(b)
	if UniStream(kind) != StreamGroup || err != nil {
		t.Fatalf("stream type %d, %v", kind, err)
	}
	b = b[n:]
	n = grow(t, b, func(b []byte) (n int, err error) {
		h, n, err = ParseGroupHeader(b, v)
		return n, err
	})
	b = b[n:]
	for prev := uint64(0); len(b) > 0; {
		var delta int64
		var size uint64
		n := grow(t, b, func(b []byte) (n int, err error) {
			delta, size, n, err = ParseFrameHeader(b, v)
			return n, err
		})
		ts, ok := FrameTime(prev, delta)
		if !ok {
			t.Fatalf("time %d%+d", prev, delta)
		}
		frames = append(frames, frame{Time: number(ts), Hex: hex.EncodeToString(b[n : n+int(size)])})
		b, prev = b[n+int(size):], ts
	}
	return h, frames
}

// grow offers ever longer starts of b to parse until it takes one, and returns how much it took.
func grow(t *testing.T, b []byte, parse func(b []byte) (int, error)) int {
	t.Helper()
	for i := range len(b) + 1 {
		n, err := parse(b[:i])
		if err != nil {
			t.Fatalf("parse %x: %v", b[:i], err)
		}
		if n > 0 {
			if n != i {
				t.Fatalf("parse %x took %d bytes, only now", b[:i], n)
			}
			return n
		}
	}
	t.Fatalf("%x never parsed", b)
	return 0
}
