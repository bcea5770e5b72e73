package moqmesh_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// pure are the packages that hold state and rules: no sockets, no clock, no
// goroutines. The caller passes the time in.
var pure = []string{"cluster/peers", "cluster/route", "moq", "moq/wire", "moq/wire/lite", "moq/wire/moqt", "moq/wire/qmux", "token"}

// impure are the packages that pure code does not import.
var impure = []string{"net", "net/http", "os", "os/exec", "github.com/quic-go/quic-go", "log/slog"}

// above lists, for each folder, the folders of ours that it must not import:
// imports point down.
var above = map[string][]string{
	"moq/wire":      {"moq", "cluster/route", "moq/session", "moq/transport", "moq/client", "cluster", "relay", "token", "internal"},
	"moq/wire/lite": {"moq", "cluster/route", "moq/session", "moq/transport", "moq/client", "cluster", "relay", "token", "internal"},
	"moq/wire/moqt": {"moq", "cluster/route", "moq/session", "moq/transport", "moq/client", "cluster", "relay", "token", "internal"},
	"moq/wire/qmux": {"moq", "cluster/route", "moq/session", "moq/transport", "moq/client", "cluster", "relay", "token", "internal"},
	"cluster/route": {"moq", "moq/session", "moq/transport", "moq/client", "cluster", "relay", "token", "internal"},
	"cluster/peers": {"moq", "moq/session", "moq/transport", "moq/client", "cluster", "relay", "token", "internal"},
	"moq":           {"moq/session", "moq/transport", "moq/client", "cluster", "relay", "token", "internal"},
	"token":         {"moq/session", "moq/transport", "moq/client", "cluster", "relay", "internal"},
	"moq/session":   {"moq/transport", "moq/client", "cluster", "relay", "token", "internal"},
	"moq/transport": {"moq/client", "cluster", "relay", "token", "internal"},
	"moq/client":    {"cluster", "relay", "token", "internal"},
	"cluster":       {"relay", "token", "cmd"},
	"relay/auth":    {"moq/session", "moq/transport", "moq/client", "cluster", "relay/conf"},
	"relay/conf":    {"moq/session", "moq/transport", "moq/client", "cluster", "relay"},
	"relay":         {"cmd", "bench"},
}

const module = "github.com/moqmesh/moqmesh/"

// sources parses the files of a folder, tests left out.
func sources(t *testing.T, dir string) (*token.FileSet, []*ast.File) {
	t.Helper()
	fset := token.NewFileSet()
	var files []*ast.File
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no sources in %s: %v", dir, err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return fset, files
}

func imports(f *ast.File) (paths []string) {
	for _, i := range f.Imports {
		path, _ := strconv.Unquote(i.Path.Value)
		paths = append(paths, path)
	}
	return paths
}

func TestPurePackages(t *testing.T) {
	for _, dir := range pure {
		fset, files := sources(t, dir)
		for _, f := range files {
			for _, path := range imports(f) {
				if slices.Contains(impure, path) {
					t.Errorf("%s imports %s", fset.Position(f.Pos()).Filename, path)
				}
			}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.GoStmt:
					t.Errorf("%s starts a goroutine", fset.Position(n.Pos()))
				case *ast.SelectorExpr:
					if pkg, ok := n.X.(*ast.Ident); ok && pkg.Name == "time" && slices.Contains([]string{"Now", "Since", "Until", "After", "NewTimer", "Sleep"}, n.Sel.Name) {
						t.Errorf("%s reads the clock", fset.Position(n.Pos()))
					}
				}
				return true
			})
		}
	}
}

func TestImportsPointDown(t *testing.T) {
	for dir, banned := range above {
		fset, files := sources(t, dir)
		for _, f := range files {
			for _, path := range imports(f) {
				local, ok := strings.CutPrefix(path, module)
				if !ok {
					continue
				}
				if slices.Contains(banned, local) || slices.Contains(banned, "internal") && strings.HasPrefix(local, "internal/") {
					t.Errorf("%s imports %s", fset.Position(f.Pos()).Filename, local)
				}
			}
		}
	}
}

// TestEveryPackageSaysWhatItIs: each package has a package comment.
func TestEveryPackageSaysWhatItIs(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if name := d.Name(); path != "." && (name[0] == '.' || name == "testdata" || name == "node_modules" || name == "bin" || name == "dist") {
			return fs.SkipDir
		}
		if names, _ := filepath.Glob(filepath.Join(path, "*.go")); !slices.ContainsFunc(names, func(n string) bool { return !strings.HasSuffix(n, "_test.go") }) {
			return nil
		}
		_, files := sources(t, path)
		if !slices.ContainsFunc(files, func(f *ast.File) bool { return f.Doc != nil }) {
			t.Errorf("%s has no package comment", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
