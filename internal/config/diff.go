package config

import "reflect"

// Change is a setting that differs between two configurations.
type Change struct {
	Key  string
	Live bool // a reload applies it; otherwise it needs a restart
}

// Changes compares two configurations setting by setting, in the order of the
// struct. Settings without effect are left out.
func (s *Schema[T]) Changes(before, after T) []Change {
	a, b := reflect.ValueOf(&before).Elem(), reflect.ValueOf(&after).Elem()
	var out []Change
	for _, f := range s.fields {
		x, y := a.FieldByIndex(f.index).Interface(), b.FieldByIndex(f.index).Interface()
		if f.inert == "" && !reflect.DeepEqual(x, y) {
			out = append(out, Change{Key: f.Key, Live: f.live})
		}
	}
	return out
}
