package web

import (
	"io/fs"
	"os"
	"os/exec"
	"path"
	"regexp"
	"testing"
)

// TestModules runs test/*.test.mjs in Node.
func TestModules(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		if os.Getenv("MOQMESH_STRICT") == "1" {
			t.Fatal(err)
		}
		t.Skip("no node: ", err)
	}
	out, err := exec.CommandContext(t.Context(), node, "--test", "test").CombinedOutput()
	if err != nil {
		t.Errorf("node --test: %v\n%s", err, out)
	}
}

var imports = regexp.MustCompile(`(?m)^(?:import|\}) .*from "(.+)";`)

// What a module imports is served with it.
func TestEveryImportIsEmbedded(t *testing.T) {
	seen := 0
	err := fs.WalkDir(Files, ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".js" {
			return err
		}
		text, err := fs.ReadFile(Files, name)
		for _, m := range imports.FindAllSubmatch(text, -1) {
			seen++
			if _, err := fs.Stat(Files, path.Join(path.Dir(name), string(m[1]))); err != nil {
				t.Errorf("%s imports %s: %v", name, m[1], err)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 7 {
		t.Errorf("%d imports found", seen)
	}
}
