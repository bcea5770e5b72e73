package token

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"
)

// member is one name and its undecoded value in a JSON object.
type member struct {
	name  string
	value json.RawMessage
}

// members splits a JSON object, in order. Unlike encoding/json it refuses a
// name that occurs twice, which two readers could take for different things.
func members(data []byte) ([]member, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil, errors.New("not a JSON object")
	}
	var all []member
	seen := make(map[string]bool)
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, errors.New("bad JSON")
		}
		m := member{name: name.(string)} // the decoder allows nothing else here
		if seen[m.name] {
			return nil, fmt.Errorf("%q occurs twice", m.name)
		}
		seen[m.name] = true
		if err := dec.Decode(&m.value); err != nil {
			return nil, fmt.Errorf("%q: bad JSON", m.name)
		}
		all = append(all, m)
	}
	if _, err := dec.Token(); err != nil || dec.InputOffset() != int64(len(bytes.TrimRight(data, " \t\r\n"))) {
		return nil, errors.New("bad JSON after the last member")
	}
	return all, nil
}

func (m member) decode(into any, want string) error {
	if string(m.value) == "null" || json.Unmarshal(m.value, into) != nil {
		return fmt.Errorf("%s is not %s", m.name, want)
	}
	return nil
}

func (m member) text() (s string, err error) { return s, m.decode(&s, "a string") }

func (m member) flag() (b bool, err error) { return b, m.decode(&b, "true or false") }

func (m member) list() ([]string, error) {
	var list []*string // a pointer tells null from ""
	if err := m.decode(&list, "a list of strings"); err != nil {
		return nil, err
	}
	out := make([]string, len(list))
	for i, s := range list {
		if s == nil {
			return nil, fmt.Errorf("%s holds a null", m.name)
		}
		out[i] = *s
	}
	return out, nil
}

// textOrList reads "a" and ["a", "b"] alike.
func (m member) textOrList() ([]string, error) {
	if s, err := m.text(); err == nil {
		return []string{s}, nil
	}
	return m.list()
}

// maxSeconds is the last second of year 9999, beyond which time.Time has no JSON form.
const maxSeconds = 253402300799

// date reads a JWT NumericDate: seconds since 1970, a fraction allowed.
func (m member) date() (time.Time, error) {
	var seconds float64
	if err := m.decode(&seconds, "a number of seconds"); err != nil {
		return time.Time{}, err
	}
	if math.Abs(seconds) > maxSeconds {
		return time.Time{}, fmt.Errorf("%s is out of range", m.name)
	}
	whole, fraction := math.Modf(seconds)
	return time.Unix(int64(whole), int64(fraction*1e9)), nil
}
