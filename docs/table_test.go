// Package docs_test holds the documents against what they describe.
package docs_test

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write what is made from the code instead of comparing it")

// read returns a document of this folder.
func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// section is what stands between a heading and the next one of its level.
func section(t *testing.T, doc, heading string) string {
	t.Helper()
	_, rest, ok := strings.Cut(doc, "\n"+heading+"\n")
	if !ok {
		t.Fatalf("no heading %q", heading)
	}
	level, _, _ := strings.Cut(heading, " ")
	rest, _, _ = strings.Cut(rest, "\n"+level+" ")
	return rest
}

// rows are the body rows of the tables in a text, cell by cell.
func rows(text string) [][]string {
	var all [][]string
	body := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case !strings.HasPrefix(line, "|"):
			body = false
		case strings.HasPrefix(line, "|---"):
			body = true
		case body:
			cells := strings.Split(strings.Trim(line, "|"), "|")
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			all = append(all, cells)
		}
	}
	return all
}
