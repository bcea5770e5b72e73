package lite

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// TestInvalidVectors checks that odd input is judged as another implementation
// judged it, row by row.
func TestInvalidVectors(t *testing.T) {
	for _, row := range readVectors(t, "lite-invalid.json") {
		t.Run(row.Version+"/"+row.Message+"/"+row.Case, func(t *testing.T) {
			err := judge(t, row)
			switch row.Result {
			case "accepted":
				if err != nil {
					t.Errorf("%s: %v, want it accepted", row.Hex, err)
				}
			case "rejected":
				if !rejects(err, row.Error) {
					t.Errorf("%s: %v, want something like %s", row.Hex, err, row.Error)
				}
			default:
				t.Fatalf("unknown result %q", row.Result)
			}
		})
	}
}

// judge decodes a row as a session would.
func judge(t *testing.T, row vector) error {
	v, whole := row.version(t), row.bytes(t)
	r := bytes.NewReader(whole)
	switch row.Message {
	case "bidi-stream-type":
		return judgeType(BidiStream(whole[0]).In(v))
	case "uni-stream-type":
		return judgeType(UniStream(whole[0]).In(v))
	case "SUBSCRIBE response":
		_, _, err := ReadSubscribeAnswer(r, v, nil)
		return err
	case "SETUP":
		body, err := wire.ReadMessage(r, v.Encoding(), MaxSetup, nil)
		if err == nil {
			_, err = DecodeSetup(body, v)
		}
		return err
	case "ANNOUNCE", "ANNOUNCE_START":
		if v.HasAnnounceIDs() {
			return judgeAnnounce(r, v)
		}
	}
	m, ok := messages[row.Message]
	if !ok {
		t.Fatalf("no check for a row of %q", row.Message)
	}
	body, err := wire.ReadMessage(r, v.Encoding(), MaxMessage, nil)
	if err == nil {
		_, err = m.decode(body, v)
	}
	return err
}

func judgeType(known bool) error {
	if !known {
		return wire.ErrValue
	}
	return nil
}

// judgeAnnounce reads an announce stream to its end.
func judgeAnnounce(r wire.ByteReader, v Version) error {
	x := NewAnnounceExpander(v)
	for {
		if _, err := readExpanded(x, r, v); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// rejects reports whether err is one of ours for what the other decoder said.
func rejects(err error, said string) bool {
	ours := map[string][]error{
		"Long":                     {wire.ErrTrailing},
		"Short":                    {wire.ErrShort, io.ErrUnexpectedEOF},
		"InvalidValue":             {wire.ErrValue, wire.ErrShort, wire.ErrDuplicate, wire.ErrUTF8},
		"BoundsExceeded":           {wire.ErrTooMany, wire.ErrTooLarge},
		"MessageTooLarge":          {wire.ErrTooLarge},
		"InvalidString":            {wire.ErrUTF8},
		"InvalidSubscribeLocation": {wire.ErrValue},
		"InvalidMessage":           {wire.ErrValue},
		"Duplicate":                {wire.ErrDuplicate},
		"TooMany":                  {wire.ErrTooMany},
	}
	name, _, _ := strings.Cut(said, "(")
	name, _, _ = strings.Cut(name, " ")
	for _, want := range ours[name] {
		if errors.Is(err, want) {
			return true
		}
	}
	return false
}
