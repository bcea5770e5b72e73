package lite

import (
	"bytes"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/moqmesh/moqmesh/moq/wire"
)

func checkDatagram(t *testing.T, row vector) {
	v, whole, f := row.version(t), row.bytes(t), fields{t, row.Fields}
	payload, err := hex.DecodeString(f.string("payload_hex"))
	if err != nil {
		t.Fatal(err)
	}
	want := Datagram{Subscribe: f.uint("subscribe"), Sequence: f.uint("sequence"), Timestamp: f.uint("timestamp"), Payload: payload}
	if got := want.Append(nil, v); !bytes.Equal(got, whole) {
		t.Errorf("%+v.Append = %x, want %x", want, got, whole)
	}
	got, err := DecodeDatagram(whole, v)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || err != nil {
		t.Errorf("%v: -want +got\n%s", err, diff)
	}
	for i := range whole[:len(whole)-len(payload)] {
		if _, err := DecodeDatagram(whole[:i], v); !errors.Is(err, wire.ErrShort) {
			t.Errorf("DecodeDatagram(%x): %v, want %v", whole[:i], err, wire.ErrShort)
		}
	}
}
