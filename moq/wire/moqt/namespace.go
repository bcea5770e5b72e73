package moqt

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// TrackNamespace names a broadcast, or a prefix of such names, as a list of
// fields (§2.3). At most MaxFields; the empty one is a valid prefix, nil when
// decoded. Fields may be any bytes; from 17 on none is empty.
type TrackNamespace []string

// Track is the full name of a track. The name may be any bytes; namespace and
// name together hold at most MaxFullName of them.
type Track struct {
	Namespace TrackNamespace
	Name      string
}

// SplitPath returns the namespace of a clean path: its segments, in which "\/"
// stands for a slash and "\\" for a backslash. The empty path is the empty
// namespace.
func SplitPath(path string) TrackNamespace {
	if path == "" {
		return nil
	}
	if !strings.Contains(path, `\`) {
		return strings.Split(path, "/")
	}
	return splitEscaped(path)
}

func splitEscaped(path string) (ns TrackNamespace) {
	var field strings.Builder
	for i := 0; i < len(path); i++ {
		c := path[i]
		switch {
		case c == '\\' && i+1 < len(path) && (path[i+1] == '/' || path[i+1] == '\\'):
			i++
			field.WriteByte(path[i])
		case c == '/':
			ns = append(ns, field.String())
			field.Reset()
		default:
			field.WriteByte(c)
		}
	}
	return append(ns, field.String())
}

var pathEscaper = strings.NewReplacer(`\`, `\\`, `/`, `\/`)

// Path returns the path that [SplitPath] takes apart into ns. A namespace with
// an empty field has none, nor has one that is not UTF-8: wire.ErrValue,
// wire.ErrUTF8.
func (ns TrackNamespace) Path() (string, error) {
	var b strings.Builder
	for i, field := range ns {
		switch {
		case field == "":
			return "", fmt.Errorf("empty namespace field: %w", wire.ErrValue)
		case !utf8.ValidString(field):
			return "", fmt.Errorf("namespace field: %w", wire.ErrUTF8)
		case i > 0:
			b.WriteByte('/')
		}
		b.WriteString(pathEscaper.Replace(field))
	}
	return b.String(), nil
}

func (ns TrackNamespace) append(b []byte, enc wire.Encoding) []byte {
	b = enc.AppendVarint(b, uint64(len(ns)))
	for _, field := range ns {
		b = enc.AppendString(b, field)
	}
	return b
}

func (t Track) append(b []byte, enc wire.Encoding) []byte {
	return enc.AppendString(t.Namespace.append(b, enc), t.Name)
}

// namespace reads a namespace and returns how many bytes a track name may have
// beside it.
func (r *reader) namespace() (ns TrackNamespace, left int) {
	left = MaxFullName
	n := r.Count(MaxFields)
	if n == 0 {
		return nil, left
	}
	ns = make(TrackNamespace, n)
	for i := range ns {
		ns[i] = string(r.Bytes(left))
		left -= len(ns[i])
		if ns[i] == "" && r.d.Version >= Draft17 {
			r.Fail(fmt.Errorf("empty namespace field: %w", wire.ErrValue))
		}
	}
	return ns, left
}

func (r *reader) namespaceAlone() TrackNamespace {
	ns, _ := r.namespace()
	return ns
}

func (r *reader) track() (t Track) {
	ns, left := r.namespace()
	return Track{Namespace: ns, Name: string(r.Bytes(left))}
}
