package docs_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// packages are the folders of the module that hold Go files other than tests, or
// nothing but tests of the whole.
func packages(t *testing.T) []string {
	t.Helper()
	seen := make(map[string]bool)
	var dirs []string
	err := fs.WalkDir(os.DirFS(".."), ".", func(name string, d fs.DirEntry, err error) error {
		switch base := path.Base(name); {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (base == "node_modules" || base == "testdata" || base[0] == '.'):
			return fs.SkipDir
		case path.Ext(name) == ".go" && !seen[path.Dir(name)]:
			seen[path.Dir(name)] = true
			dirs = append(dirs, path.Dir(name))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return dirs
}

func TestArchitectureNamesEachPackageOnce(t *testing.T) {
	doc, _, _ := strings.Cut(read(t, "architecture.md"), "\n## ")
	named := make(map[string]int)
	for _, m := range regexp.MustCompile("`([a-z]+(?:/[a-z0-9-]+)*)`").FindAllStringSubmatch(doc, -1) {
		named[m[1]]++
	}
	for _, dir := range packages(t) {
		if dir == "." || dir == "docs" {
			continue
		}
		if n := named[dir]; n != 1 {
			t.Errorf("architecture.md names package %s %d times, want once", dir, n)
		}
	}
	for name := range named {
		if _, err := os.Stat(path.Join("..", name)); err != nil {
			t.Errorf("architecture.md names %s, which is not there", name)
		}
	}
}
