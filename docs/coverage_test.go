package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// tests are the names of the test functions in a folder of the module.
func tests(t *testing.T, dir string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]bool)
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
				found[f.Name.Name] = true
			}
		}
	}
	return found
}

func TestCoverageNamesTestsThatExist(t *testing.T) {
	doc := read(t, "coverage.md")
	byDir := make(map[string]map[string]bool)
	for _, m := range regexp.MustCompile("`([a-z/-]+)\\.((?:Test|Fuzz|Example|Benchmark)[A-Za-z0-9_]*)`").FindAllStringSubmatch(doc, -1) {
		dir, name := m[1], m[2]
		if dir == "moqmesh" {
			dir = "."
		}
		if byDir[dir] == nil {
			byDir[dir] = tests(t, dir)
		}
		if !byDir[dir][name] {
			t.Errorf("coverage.md names %s.%s, which is not there", m[1], name)
		}
	}
}

// span appends the ids letter+from to letter+to.
func span(ids []string, letter string, from, to int) []string {
	for n := from; n <= to; n++ {
		ids = append(ids, letter+strconv.Itoa(n))
	}
	return ids
}

func TestCoverageNamesEveryFieldReport(t *testing.T) {
	want := span(span(nil, "A", 16, 34), "A", 45, 71)
	var got []string
	for _, row := range rows(section(t, read(t, "coverage.md"), "## Field reports")) {
		got = append(got, row[0])
	}
	for i := range max(len(want), len(got)) {
		if i >= len(want) || i >= len(got) || got[i] != want[i] {
			t.Fatalf("coverage.md has the field reports %v, want %v", got, want)
		}
	}
}
