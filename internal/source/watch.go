package source

import (
	"fmt"
	"slices"

	"github.com/fsnotify/fsnotify"
)

// watch asks the system for events from every directory that matters to some files. It may not work at all (no
// inotify instances left, a file system without events); then it stays silent and the next arm tries again.
type watch struct {
	files []string
	open  func() (*fsnotify.Watcher, error)
	w     *fsnotify.Watcher // nil while there is none
}

func newWatch(files []string) *watch {
	return &watch{files: files, open: fsnotify.NewWatcher}
}

// arm brings the watched directories in line with where the files are now.
func (w *watch) arm() error {
	if len(w.files) == 0 {
		return nil
	}
	if w.w == nil {
		opened, err := w.open()
		if err != nil {
			return fmt.Errorf("open file watcher: %w", err)
		}
		w.w = opened
	}
	return w.align(w.dirs())
}

func (w *watch) dirs() (dirs []string) {
	for _, file := range w.files {
		dirs = append(dirs, watchDirs(file)...)
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// align adds before it removes, so that no moment is unwatched, and adds all it can.
func (w *watch) align(want []string) (err error) {
	have := w.w.WatchList()
	for _, dir := range want {
		if slices.Contains(have, dir) {
			continue
		}
		if addErr := w.w.Add(dir); addErr != nil {
			err = fmt.Errorf("watch %s: %w", dir, addErr)
		}
	}
	for _, dir := range have {
		if !slices.Contains(want, dir) {
			_ = w.w.Remove(dir) // it went by itself: just as well
		}
	}
	return err
}

// events is nil, and so never ready, while there is no watcher.
func (w *watch) events() <-chan fsnotify.Event {
	if w.w == nil {
		return nil
	}
	return w.w.Events
}

func (w *watch) errors() <-chan error {
	if w.w == nil {
		return nil
	}
	return w.w.Errors
}

// close ends the watcher; arm may open another.
func (w *watch) close() {
	if w.w != nil {
		_ = w.w.Close()
		w.w = nil
	}
}
