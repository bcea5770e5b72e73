package config

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Value is a setting with a form of its own, implemented on the pointer.
//
// SetConfig gets what TOML holds: string, int64, float64, bool, []any or
// map[string]any. Flags and environment variables come as a string, and as
// []any of strings when the type is a slice. Its error says what is wrong
// without repeating a secret. Form says what is accepted, in a few words.
// String gives the written form, secrets left out.
type Value interface {
	SetConfig(v any) error
	Form() string
	fmt.Stringer
}

// Choice is a string type with a closed set of values, most useful first.
type Choice interface{ Choices() []string }

// switchValue marks a [Value] whose flag may stand without a value, for true.
type switchValue interface{ IsBoolFlag() bool }

// texts is what a flag or a variable gave, one element for each occurrence.
type texts []string

// Types with a written form of their own.
var (
	durationType = reflect.TypeFor[time.Duration]()
	hostPortType = reflect.TypeFor[HostPort]()
	bytesType    = reflect.TypeFor[Bytes]()
	amountType   = reflect.TypeFor[Amount]()
	rateType     = reflect.TypeFor[Rate]()
	valueType    = reflect.TypeFor[Value]()
	choiceType   = reflect.TypeFor[Choice]()
)

func isValue(t reflect.Type) bool { return reflect.PointerTo(t).Implements(valueType) }

// isSwitch reports whether the flag of t may stand alone.
func isSwitch(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	s, ok := reflect.New(t).Interface().(switchValue)
	return t.Kind() == reflect.Bool || ok && s.IsBoolFlag()
}

// isList reports whether a flag of t may be repeated.
func isList(t reflect.Type) bool { return t.Kind() == reflect.Slice }

// decode reads v, a TOML value or texts, as a t.
func decode(t reflect.Type, v any) (reflect.Value, error) {
	switch {
	case isValue(t):
		return decodeValue(t, v)
	case t.Kind() == reflect.Pointer:
		return decodePointer(t, v)
	case isList(t):
		return decodeList(t, v)
	}
	if ts, ok := v.(texts); ok {
		return decodeText(t, ts[len(ts)-1])
	}
	return decodeTOML(t, v)
}

func decodeValue(t reflect.Type, v any) (reflect.Value, error) {
	p := reflect.New(t)
	if ts, ok := v.(texts); ok {
		v = ts[len(ts)-1]
		if isList(t) {
			v = anys(split(ts))
		}
	}
	err := p.Interface().(Value).SetConfig(v)
	return p.Elem(), err
}

func decodePointer(t reflect.Type, v any) (reflect.Value, error) {
	elem, err := decode(t.Elem(), v)
	if err != nil {
		return elem, err
	}
	p := reflect.New(t.Elem())
	p.Elem().Set(elem)
	return p, nil
}

// decodeList reads a list; an empty text, and an empty element of one, count
// for nothing, so that NAME= empties a list.
func decodeList(t reflect.Type, v any) (reflect.Value, error) {
	var elems []any
	switch v := v.(type) {
	case texts:
		for _, s := range split(v) {
			if s != "" {
				elems = append(elems, texts{s})
			}
		}
	case []any:
		elems = v
	default:
		elems = []any{v}
	}
	list := reflect.MakeSlice(t, 0, len(elems))
	for _, e := range elems {
		ev, err := decode(t.Elem(), e)
		if err != nil {
			return list, err
		}
		list = reflect.Append(list, ev)
	}
	return list, nil
}

func decodeText(t reflect.Type, s string) (reflect.Value, error) {
	switch {
	case t.Kind() == reflect.Bool:
		if s != "true" && s != "false" {
			return reflect.Value{}, mismatch(t, s)
		}
		return reflect.ValueOf(s == "true").Convert(t), nil
	case t == durationType || t == bytesType:
		return decodeString(t, s)
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Int64 && t != rateType:
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return reflect.Value{}, mismatch(t, s)
		}
		return decodeTOML(t, n)
	case t.Kind() >= reflect.Uint && t.Kind() <= reflect.Uint64:
		return decodeUint(t, s)
	case t.Kind() == reflect.Float64:
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return reflect.Value{}, mismatch(t, s)
		}
		return reflect.ValueOf(f), nil
	}
	return decodeString(t, s)
}

// decodeUint keeps the whole range, which int64 does not.
func decodeUint(t reflect.Type, s string) (reflect.Value, error) {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || reflect.Zero(t).OverflowUint(n) {
		return reflect.Value{}, mismatch(t, s)
	}
	return reflect.ValueOf(n).Convert(t), nil
}

func decodeTOML(t reflect.Type, v any) (reflect.Value, error) {
	switch v := v.(type) {
	case string:
		if out, err := decodeString(t, v); err == nil {
			return out, nil
		}
	case bool:
		if t.Kind() == reflect.Bool {
			return reflect.ValueOf(v).Convert(t), nil
		}
	case float64:
		if t.Kind() == reflect.Float64 {
			return reflect.ValueOf(v), nil
		}
	case int64:
		if out, ok := decodeInt(t, v); ok {
			return out, nil
		}
	}
	return reflect.Value{}, mismatch(t, v)
}

// decodeInt reads a bare number. A duration or a rate needs its unit: only 0
// means the same in all of them.
func decodeInt(t reflect.Type, n int64) (v reflect.Value, ok bool) {
	v = reflect.New(t).Elem()
	switch {
	case t == amountType:
		return reflect.ValueOf(Amount{Bytes: Bytes(n)}), n >= 0
	case t == bytesType || t == durationType || t == rateType:
		v.SetInt(n)
		return v, n == 0 || t == bytesType && n > 0
	case v.CanInt():
		v.SetInt(n)
		return v, !v.OverflowInt(n)
	case v.CanUint():
		v.SetUint(uint64(n))
		return v, n >= 0 && !v.OverflowUint(uint64(n))
	case v.CanFloat():
		v.SetFloat(float64(n))
		return v, true
	}
	return v, false
}

// decodeString reads what both TOML strings and texts may hold.
func decodeString(t reflect.Type, s string) (reflect.Value, error) {
	var out any
	var err error
	switch {
	case t == durationType:
		out, err = parseDuration(s)
	case t == hostPortType:
		out, err = parseHostPort(s)
	case t == bytesType:
		out, err = parseBytes(s)
	case t == amountType:
		out, err = parseAmount(s)
	case t == rateType:
		out, err = parseRate(s)
	case t.Kind() == reflect.String && allowed(t, s):
		out = s
	default:
		err = errForm{}
	}
	if err != nil {
		return reflect.Value{}, mismatch(t, s)
	}
	return reflect.ValueOf(out).Convert(t), nil
}

// split cuts comma lists and joins the occurrences.
func split(ts texts) []string {
	var out []string
	for _, s := range ts {
		for _, part := range strings.Split(s, ",") {
			out = append(out, strings.TrimSpace(part))
		}
	}
	return out
}

func anys(ss []string) []any {
	out := make([]any, len(ss))
	for i, s := range ss {
		out[i] = s
	}
	return out
}
