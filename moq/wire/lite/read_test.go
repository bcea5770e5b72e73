package lite

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// "Other: skip by length, takes no id." On 06-wip it is an error.
func TestReadAnnounceUnknownType(t *testing.T) {
	stream := AnnounceEnd{ID: 3}.Append([]byte{9, 3, 1, 2, 3, 4, 0}, V06)
	kind, body, err := ReadAnnounce(bytes.NewReader(stream), V06, nil)
	if kind != TypeAnnounceEnd || !bytes.Equal(body, []byte{3}) || err != nil {
		t.Errorf("06: type %d, body %x, %v, want the END behind", kind, body, err)
	}
	if _, _, err := ReadAnnounce(bytes.NewReader(stream), V06WIP, nil); !errors.Is(err, wire.ErrValue) {
		t.Errorf("06-wip: %v, want %v", err, wire.ErrValue)
	}
	for i := 1; i < 5; i++ {
		if _, _, err := ReadAnnounce(bytes.NewReader(stream[:i]), V06, nil); err != io.ErrUnexpectedEOF {
			t.Errorf("cut inside the unknown message at %d: %v, want unexpected EOF", i, err)
		}
	}
	huge := wire.AppendVarint([]byte{9}, MaxMessage+1)
	if _, _, err := ReadAnnounce(bytes.NewReader(huge), V06, nil); !errors.Is(err, wire.ErrTooLarge) {
		t.Errorf("unknown message of 64 MiB and a byte: %v, want %v", err, wire.ErrTooLarge)
	}
}

// Requests come from strangers: none needs 64 MiB.
func TestReadsBoundTheBody(t *testing.T) {
	long := wire.AppendVarint(nil, MaxRequest+1)
	if _, err := ReadBody(bytes.NewReader(long), V06, nil); !errors.Is(err, wire.ErrTooLarge) {
		t.Errorf("ReadBody: %v, want %v", err, wire.ErrTooLarge)
	}
	typed := append([]byte{0}, long...)
	if _, _, err := ReadAnnounce(bytes.NewReader(typed), V06, nil); !errors.Is(err, wire.ErrTooLarge) {
		t.Errorf("ReadAnnounce: %v, want %v", err, wire.ErrTooLarge)
	}
	if _, _, err := ReadSubscribeAnswer(bytes.NewReader(typed), V06, nil); !errors.Is(err, wire.ErrTooLarge) {
		t.Errorf("ReadSubscribeAnswer: %v, want %v", err, wire.ErrTooLarge)
	}
}

// The longest message of bounded strings fits its bound.
func TestMaxRequestHoldsEverything(t *testing.T) {
	m := Subscribe{
		ID: wire.MaxVarint, Broadcast: string(bytes.Repeat([]byte{'b'}, MaxPath)), Track: string(bytes.Repeat([]byte{'t'}, MaxTrackName)),
		Preferences: Preferences{GroupStart: Some(wire.MaxVarint), GroupEnd: Some(wire.MaxVarint - 1)},
	}
	body, err := ReadBody(bytes.NewReader(m.Append(nil, V06)), V06, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := DecodeSubscribe(body, V06); got != m || err != nil {
		t.Errorf("the longest SUBSCRIBE does not survive: %v", err)
	}
	m.Track += "t"
	body, err = ReadBody(bytes.NewReader(m.Append(nil, V06)), V06, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := DecodeSubscribe(body, V06); !errors.Is(err, wire.ErrTooLarge) {
		t.Errorf("a track name above its bound: %v, want %v", err, wire.ErrTooLarge)
	}
}

func TestNoDropOn07(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a DROP was written on 07, which has none")
		}
	}()
	SubscribeDrop{}.Append(nil, V07WIP)
}
