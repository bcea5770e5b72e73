package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// files reads local files, all of them at every check: contents decide, since a size and a time stamp can stay the
// same when a file does not.
type files struct {
	paths []string
	max   int64
}

func (f files) read(context.Context) (answer, error) {
	var a answer
	for _, path := range f.paths {
		doc, err := readFile(path, f.max)
		if err != nil {
			return answer{}, err
		}
		a.docs = append(a.docs, doc)
	}
	return a, nil
}

func (f files) refuse()      {}
func (f files) shares() bool { return false }

// readFile reads a regular file of at most limit bytes. Opening anything else might block for ever.
func readFile(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	doc, err := readBounded(file, limit)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return doc, nil
}

var errTooLong = errors.New("longer than allowed")

// readBounded reads r to its end, which must come within limit bytes.
func readBounded(r io.Reader, limit int64) ([]byte, error) {
	doc, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(doc)) > limit {
		return nil, fmt.Errorf("%w: %d bytes", errTooLong, limit)
	}
	return doc, nil
}
