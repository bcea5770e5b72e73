package source

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxLinks bounds the symbolic links followed on the way to one file, as Linux does.
const maxLinks = 40

// watchDirs returns the directories in which a change can alter what the absolute path leads to: the parent of each
// symbolic link on the way, and of the file at the end. A mounted ConfigMap is the usual case:
//
//	peers.json -> ..data/peers.json     ..data -> ..2026_11_30/
//
// where the swap of ..data gives no event that bears the file's name. Where the way is broken, the last directory that
// exists is the one to watch.
func watchDirs(path string) []string {
	var dirs []string
	at, rest := string(filepath.Separator), split(path)
	for links := 0; len(rest) > 0; {
		next := filepath.Join(at, rest[0])
		info, err := os.Lstat(next)
		if err != nil || len(rest) == 1 && info.Mode()&os.ModeSymlink == 0 {
			dirs = append(dirs, at)
			break
		}
		if info.Mode()&os.ModeSymlink == 0 {
			at, rest = next, rest[1:]
			continue
		}
		dirs = append(dirs, at)
		target, err := os.Readlink(next)
		if links++; err != nil || links > maxLinks {
			break
		}
		if filepath.IsAbs(target) {
			at = string(filepath.Separator)
		}
		rest = append(split(target), rest[1:]...)
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// split returns the components of path, without empty ones.
func split(path string) []string {
	return slices.DeleteFunc(strings.Split(path, string(filepath.Separator)), func(s string) bool { return s == "" })
}
