package peers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// Object is the written form of a peer with a field for each setting.
type Object struct {
	URL    string
	Cost   *uint64 // nil = not said here
	Egress *uint64 // nil = as Cost; may differ from it
	Token  string  // "" = none here
	ID     *uint64 // 1 to 2^62-1; nil = unknown
}

// Entry checks o and reports whether its URL is a bare host. A price or token is given either here or in the URL.
func (o Object) Entry() (e Entry, bare bool, err error) {
	if e, bare, err = Parse(o.URL); err != nil {
		return e, bare, err
	}
	switch {
	case o.Cost != nil && e.Cost != (Price{}):
		return e, bare, errors.New("cost is given both as a field and in the URL")
	case o.Egress != nil && e.Cost.Set:
		return e, bare, errors.New("egress stands beside a cost in the URL: make that a field too")
	case o.Token != "" && e.Token != "":
		return e, bare, errors.New("token is given both as a field and in the URL")
	case o.ID != nil && (*o.ID == 0 || *o.ID > wire.MaxVarint):
		return e, bare, errors.New("id is not from 1 to 2^62-1")
	}
	if o.Cost != nil {
		e.Cost = Fixed(*o.Cost)
	}
	if o.Egress != nil {
		e.Egress = Fixed(*o.Egress)
	}
	if o.Token != "" {
		e.Token = o.Token
	}
	if o.ID != nil {
		e.ID = *o.ID
	}
	return e, bare, nil
}

// UnmarshalJSON reads a URL, or an object. Errors name fields and never repeat values.
func (o *Object) UnmarshalJSON(b []byte) error {
	*o = Object{}
	if b = bytes.TrimSpace(b); len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, &o.URL)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(b, &fields); err != nil || fields == nil {
		return errors.New("want a URL or an object with a url")
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if err := o.setField(name, fields[name]); err != nil {
			return err
		}
	}
	return nil
}

func (o *Object) setField(name string, value json.RawMessage) error {
	switch name {
	case "url":
		return field(name, value, &o.URL, "a string")
	case "token":
		return field(name, value, &o.Token, "a string")
	case "cost":
		return field(name, value, &o.Cost, "a whole number, 0 or more")
	case "egress":
		return field(name, value, &o.Egress, "a whole number, 0 or more")
	case "id":
		return field(name, value, &o.ID, "a whole number")
	}
	const most = 32
	return fmt.Errorf("unknown field %q, want url, cost, egress, token or id", name[:min(len(name), most)])
}

func field(name string, value json.RawMessage, into any, want string) error {
	if string(value) == "null" || json.Unmarshal(value, into) != nil {
		return fmt.Errorf("%s: want %s", name, want)
	}
	return nil
}
