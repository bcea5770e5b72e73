package auth

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/moqmesh/moqmesh/token"
)

// keyDir is a directory with a file {kid}.jwk for each key. Taking a file away
// takes its key out of use.
type keyDir struct {
	dir string
	log *slog.Logger

	mu    sync.Mutex // guards files
	files map[string]*keyFile
}

// maxKeyFiles bounds what is remembered of a directory. Only files that exist count.
const maxKeyFiles = 1024

func openKeyDir(dir string, log *slog.Logger) (*keyDir, error) {
	if info, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("open key directory: %w", err)
	} else if !info.IsDir() {
		return nil, fmt.Errorf("open key directory: %s is not a directory", dir)
	}
	return &keyDir{dir: dir, log: log, files: make(map[string]*keyFile)}, nil
}

func (d *keyDir) get(_ context.Context, now time.Time, kid string) (*token.KeySet, error) {
	if !token.ValidKeyID(kid) { // it becomes a file name
		return nil, unknownKey("", "a token for a key directory must name its key")
	}
	f := d.file(kid)
	set, err := f.look(now)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.forget(kid)
		return nil, unknownKey(kid, "no such file")
	case set == nil:
		d.forget(kid)
		return nil, err
	}
	return set, nil
}

func (d *keyDir) file(kid string) *keyFile {
	d.mu.Lock()
	defer d.mu.Unlock()
	f, ok := d.files[kid]
	if !ok {
		if len(d.files) >= maxKeyFiles {
			clear(d.files)
		}
		f = &keyFile{path: filepath.Join(d.dir, kid+".jwk"), log: d.log}
		d.files[kid] = f
	}
	return f
}

func (d *keyDir) forget(kid string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.files, kid)
}
