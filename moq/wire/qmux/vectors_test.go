package qmux

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// vector is a row of testdata/qmux.json: bytes of other implementations.
type vector struct {
	Version string
	Message string
	Fields  map[string]any
	Hex     string
	Source  string
}

func loadVectors(t testing.TB) []vector {
	t.Helper()
	data, err := os.ReadFile("testdata/qmux.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []vector
	if err := json.Unmarshal(data, &rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

func (v vector) versions(t testing.TB) []Version {
	t.Helper()
	token := v.Version
	if token == "qmux-01/02" {
		return []Version{V01, V02}
	}
	version, ok := ParseVersion(token)
	if !ok {
		t.Fatalf("unknown version %q", token)
	}
	return []Version{version}
}

func (v vector) bytes(t testing.TB) []byte {
	t.Helper()
	b, err := hex.DecodeString(v.Hex)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (v vector) num(name string) uint64 {
	n, _ := v.Fields[name].(float64)
	return uint64(n)
}

func (v vector) text(name string) string {
	s, _ := v.Fields[name].(string)
	return s
}

// frames are the frames a row says it holds; ok is false for an unknown row.
func (v vector) frames(version Version) (want []any, ok bool) {
	data, _ := hex.DecodeString(v.text("data_hex"))
	fin, _ := v.Fields["fin"].(bool)
	switch v.Message {
	case "STREAM":
		f := Stream{ID: v.num("stream_id"), Offset: v.num("offset"), Fin: fin, Data: data}
		if version == Legacy {
			f.Offset = 0
		}
		return []any{f}, true
	case "RESET_STREAM":
		f := ResetStream{v.num("stream_id"), v.num("code"), v.num("final_size")}
		if version == Legacy {
			f.FinalSize = 0
		}
		return []any{f}, true
	case "STOP_SENDING":
		return []any{StopSending{v.num("stream_id"), v.num("code")}}, true
	case "CONNECTION_CLOSE", "APPLICATION_CLOSE":
		return []any{Close{v.Message == "APPLICATION_CLOSE", v.num("code"), v.text("reason")}}, true
	case "MAX_DATA":
		return []any{MaxData{v.num("max")}}, true
	case "MAX_STREAM_DATA":
		return []any{MaxStreamData{v.num("stream_id"), v.num("max")}}, true
	case "MAX_STREAMS_BIDI", "MAX_STREAMS_UNI":
		return []any{MaxStreams{v.Message == "MAX_STREAMS_UNI", v.num("max")}}, true
	case "QX_PING request", "QX_PING response":
		return []any{Ping{v.Message == "QX_PING response", v.num("sequence")}}, true
	case "DATAGRAM":
		return []any{Datagram{data}}, true
	case "QX_TRANSPORT_PARAMETERS":
		return []any{v.parameters()}, true
	case "PADDING":
		return nil, true
	case "websocket message with two frames":
		return []any{Stream{Data: []byte{1, 1, 0}}, Stream{ID: 3, Fin: true, Data: []byte{1, 0}}}, true
	case "record on a byte stream", "STREAM without OFF/LEN (older senders)":
		return []any{Stream{Data: []byte{1, 1, 0}}}, true
	case "0x1d close as sent by an older browser client (extra frame type)":
		return []any{Close{Application: true, Code: 3}}, true
	}
	return nil, false
}

func (v vector) parameters() Parameters {
	p := Parameters{
		MaxData:                 1 << 20,
		MaxStreamDataBidiLocal:  256 << 10,
		MaxStreamDataBidiRemote: 256 << 10,
		MaxStreamDataUni:        256 << 10,
		MaxStreamsBidi:          100,
		MaxStreamsUni:           100,
	}
	if v.Fields["flow_control_only"] == true {
		return p
	}
	p.MaxIdleTimeout = 30 * time.Second
	p.MaxDatagramFrame, p.MaxRecord = MaxRecord, MaxRecord
	p.ResetStreamAt = v.Fields["reset_stream_at"] == true
	if list, ok := v.Fields["application_protocols"].([]any); ok {
		for _, name := range list {
			p.ApplicationProtocols = append(p.ApplicationProtocols, name.(string))
		}
	}
	return p
}

// decodeOnly are the rows that show what older senders write and we never do.
func (v vector) decodeOnly() bool {
	return strings.Contains(v.Message, "older") || v.Message == "PADDING"
}

func TestVectors(t *testing.T) {
	for _, row := range loadVectors(t) {
		for _, version := range row.versions(t) {
			want, ok := row.frames(version)
			if !ok {
				t.Fatalf("row %q is not known to this test", row.Message)
			}
			message := row.bytes(t)
			if row.Message == "record on a byte stream" {
				frames, n, err := ParseRecord(message, MaxRecord)
				if err != nil || n != len(message) {
					t.Fatalf("ParseRecord(%x) = %d, %v", message, n, err)
				}
				if got := AppendRecord(nil, frames); !cmp.Equal(got, message) {
					t.Errorf("AppendRecord(%x) = %x, want %x", frames, got, message)
				}
				message = frames
			}
			got, err := decodeAll(version, message)
			if err != nil {
				t.Errorf("%s %s: decode %x: %v", version, row.Message, message, err)
				continue
			}
			if diff := cmp.Diff(want, got, equalEmpty); diff != "" {
				t.Errorf("%s %s: decode %x (-want +got):\n%s", version, row.Message, message, diff)
			}
			if row.decodeOnly() {
				continue
			}
			if b := appendAll(nil, version, want); !cmp.Equal(b, message) {
				t.Errorf("%s %s: append %+v = %x, want %x", version, row.Message, want, b, message)
			}
		}
	}
}

// Every strict prefix of a message is refused or shorter: nothing is made up.
func TestTruncated(t *testing.T) {
	for _, row := range loadVectors(t) {
		if row.Message == "record on a byte stream" {
			continue
		}
		for _, version := range row.versions(t) {
			message := row.bytes(t)
			whole, err := decodeAll(version, message)
			if err != nil {
				t.Fatal(err)
			}
			for n := range message {
				got, err := decodeAll(version, message[:n])
				if err == nil && !endsOpen(version, row, n) && len(got) >= len(whole) && len(whole) > 0 {
					t.Errorf("%s %s: decode %x, cut from %x = %+v, want an error", version, row.Message, message[:n], message, got)
				}
			}
		}
	}
}

// endsOpen reports rows whose last field runs to the end of the message, so
// that a cut inside it goes unnoticed.
func endsOpen(v Version, row vector, n int) bool {
	switch row.Message {
	case "STREAM", "CONNECTION_CLOSE", "APPLICATION_CLOSE":
		return v == Legacy && n >= 2
	case "STREAM without OFF/LEN (older senders)":
		return n >= 2
	case "0x1d close as sent by an older browser client (extra frame type)":
		return n >= 3
	}
	return false
}

func TestParseRecord(t *testing.T) {
	tests := []struct {
		name   string
		in     []byte
		frames []byte
		n      int
		err    bool
	}{
		{name: "empty", in: nil},
		{name: "half a size", in: []byte{0x40}},
		{name: "half a record", in: []byte{3, 1, 2}},
		{name: "one and more", in: []byte{2, 1, 2, 9}, frames: []byte{1, 2}, n: 3},
		{name: "too large", in: []byte{11}, err: true},
		{name: "huge", in: []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, err: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			frames, n, err := ParseRecord(tt.in, 10)
			if !cmp.Equal(frames, tt.frames) || n != tt.n || (err != nil) != tt.err {
				t.Errorf("ParseRecord(%x) = %x, %d, %v, want %x, %d, error %t", tt.in, frames, n, err, tt.frames, tt.n, tt.err)
			}
		})
	}
}
