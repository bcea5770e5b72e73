package lite

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// moqlCodes are the version names of the rows.
var moqlCodes = map[string]uint64{"lite-01": V01.Code(), "lite-02": V02.Code(), "moq-transport-14": CodeMoqt14}

func checkClientSetup(t *testing.T, row vector) {
	whole, f := row.bytes(t), fields{t, row.Fields}
	var want []uint64
	for name := range strings.SplitSeq(strings.Trim(f.string("versions"), "[]"), ", ") {
		want = append(want, moqlCodes[name])
	}
	got, err := ReadClientSetup(bytes.NewReader(whole))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Versions, want) {
		t.Errorf("versions %x, want %x", got.Versions, want)
	}
	slices.SortFunc(got.Parameters, func(a, b Parameter) int { return int(a.ID) - int(b.ID) })
	params := []Parameter{
		{ID: ParamMaxRequestID, Number: 1<<32 - 1},
		{ID: ParamImplementation, Bytes: []byte("moq-lite-rs")},
		{ID: 0x40b5a, Number: 1},
		{ID: 0x40b5c, Number: 1},
	}
	if diff := cmp.Diff(params, got.Parameters); diff != "" {
		t.Errorf("parameters: -want +got\n%s", diff)
	}
	again, err := ReadClientSetup(bytes.NewReader(whole))
	if b := again.Append(nil); err != nil || !bytes.Equal(b, whole) {
		t.Errorf("written again %x, want %x", b, whole)
	}
	checkMoqlCuts(t, whole, func(r wire.ByteReader) error { _, err := ReadClientSetup(r); return err })
}

func checkServerSetup(t *testing.T, row vector) {
	whole, f := row.bytes(t), fields{t, row.Fields}
	want := ServerSetup{Version: moqlCodes[f.string("version")]}
	got, err := ReadServerSetup(bytes.NewReader(whole))
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v: -want +got\n%s", err, diff)
	}
	if b := want.Append(nil); !bytes.Equal(b, whole) {
		t.Errorf("%+v.Append = %x, want %x", want, b, whole)
	}
	checkMoqlCuts(t, whole, func(r wire.ByteReader) error { _, err := ReadServerSetup(r); return err })
}

func checkMoqlCuts(t *testing.T, whole []byte, read func(wire.ByteReader) error) {
	t.Helper()
	for i := range whole {
		err := read(bytes.NewReader(whole[:i]))
		if i == 0 && !errors.Is(err, io.EOF) || i > 0 && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("read %x: %v", whole[:i], err)
		}
	}
	for i := range whole[3:] {
		cut := slices.Concat(whole[:1], []byte{0, byte(i)}, whole[3:3+i])
		if err := read(bytes.NewReader(cut)); !errors.Is(err, wire.ErrShort) {
			t.Errorf("read %x: %v, want %v", cut, err, wire.ErrShort)
		}
	}
	long := slices.Concat(whole[:2], []byte{whole[2] + 1}, whole[3:], []byte{0})
	if err := read(bytes.NewReader(long)); !errors.Is(err, wire.ErrTrailing) {
		t.Errorf("read %x: %v, want %v", long, err, wire.ErrTrailing)
	}
}

func TestMoqlSetupRefuses(t *testing.T) {
	many := func(n int) (ps []Parameter) {
		for i := range n {
			ps = append(ps, Parameter{ID: uint64(2 * i)})
		}
		return ps
	}
	if _, err := ReadClientSetup(bytes.NewReader(ServerSetup{}.Append(nil))); !errors.Is(err, wire.ErrValue) {
		t.Errorf("SERVER_SETUP for CLIENT_SETUP: %v, want %v", err, wire.ErrValue)
	}
	for _, tt := range []struct {
		m    ClientSetup
		want error
	}{
		{ClientSetup{Versions: make([]uint64, maxVersions)}, nil},
		{ClientSetup{Versions: make([]uint64, maxVersions+1)}, wire.ErrTooMany},
		{ClientSetup{Parameters: many(MaxParams)}, nil},
		{ClientSetup{Parameters: many(MaxParams + 1)}, wire.ErrTooMany},
	} {
		if _, err := ReadClientSetup(bytes.NewReader(tt.m.Append(nil))); !errors.Is(err, tt.want) {
			t.Errorf("%d versions, %d parameters: %v, want %v", len(tt.m.Versions), len(tt.m.Parameters), err, tt.want)
		}
	}
}
