package config

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// errMismatch is a value that is not in the form of its setting.
type errMismatch struct{ found, want string }

func (e errMismatch) Error() string { return "found " + e.found + ", want " + e.want }

func mismatch(t reflect.Type, v any) error {
	return errMismatch{found: describe(v), want: form(t)}
}

// form says what a setting of type t accepts.
func form(t reflect.Type) string {
	switch {
	case isValue(t):
		return reflect.New(t).Interface().(Value).Form()
	case t.Kind() == reflect.Pointer:
		return form(t.Elem())
	case isList(t):
		return "a list, each entry " + form(t.Elem())
	case t == durationType:
		return `a duration such as "10s" or "500ms"`
	case t == hostPortType:
		return `host:port such as "[::]:443"`
	case t == bytesType:
		return `bytes such as 4096, "512MB" or "8GiB"`
	case t == amountType:
		return `bytes such as "8GiB", or a share such as "75%"`
	case t == rateType:
		return `bits per second such as "25Mbps"`
	}
	return formOfKind(t)
}

func formOfKind(t reflect.Type) string {
	zero := reflect.Zero(t)
	switch {
	case t.Kind() == reflect.Bool:
		return "true or false"
	case zero.CanInt():
		return "a whole number"
	case zero.CanUint():
		return "a whole number, 0 or more"
	case zero.CanFloat():
		return "a number"
	case len(choicesOf(t)) > 0:
		return "one of " + strings.Join(choicesOf(t), ", ")
	}
	return "text"
}

// describe shows what was found, shortened.
func describe(v any) string {
	switch v := v.(type) {
	case string:
		if len(v) > 60 {
			v = v[:60] + "…"
		}
		return strconv.Quote(v)
	case []any:
		return "a list"
	case map[string]any:
		return "a table"
	case bool, int64, float64:
		return fmt.Sprint(v)
	}
	return "a date or time"
}

// allowed reports whether s is among the choices of t, if it has any.
func allowed(t reflect.Type, s string) bool {
	choices := choicesOf(t)
	return len(choices) == 0 || slices.Contains(choices, s)
}

func choicesOf(t reflect.Type) []string {
	if !t.Implements(choiceType) {
		return nil
	}
	return reflect.Zero(t).Interface().(Choice).Choices()
}
