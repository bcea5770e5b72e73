package conf

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/moqmesh/moqmesh/internal/config"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files instead of comparing them")

// golden compares a file with what the code makes of it today.
func golden(t *testing.T, name, want string) {
	t.Helper()
	if *rewrite {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("%s is not what the code says; see the difference and run go test -rewrite (-code +file):\n%s", name, diff)
	}
}

func TestHelp(t *testing.T) {
	golden(t, "testdata/help.txt", schema().Help())
}

func TestConfigurationDocument(t *testing.T) {
	const name, begin, end = "../../docs/configuration.md", "<!-- keys -->\n", "<!-- /keys -->\n"
	doc, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(doc), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s lacks the marks %q and %q", name, begin, end)
	}
	golden(t, name, before+begin+keyTable()+end+after)
}

func keyTable() string {
	var b strings.Builder
	b.WriteString("| key, flag, variable | meaning | form | default |\n|---|---|---|---|\n")
	for _, k := range Keys() {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", names(k), meaning(k), cell(k.Form), cell(code(k.Default)))
	}
	return b.String()
}

func names(k config.Key) string {
	if k.Flag == "" {
		return code(k.Name)
	}
	return fmt.Sprintf("%s<br>%s<br>%s", code(k.Name), code("--"+k.Flag), code(k.Env))
}

func meaning(k config.Key) string {
	text := cell(k.Help)
	if k.Live {
		text += " *(live)*"
	}
	if len(k.Old) > 0 {
		text += "<br>released as " + code(strings.Join(k.Old, "`, `"))
	}
	return text
}

func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + s + "`"
}

// cell keeps a text from ending its table cell or being read as emphasis.
func cell(s string) string {
	if strings.HasPrefix(s, "`") {
		return s
	}
	return strings.NewReplacer("|", `\|`, "*", `\*`, "<", "&lt;").Replace(s)
}

// Every setting must tell a reader what it is for.
func TestEveryKeyHasHelp(t *testing.T) {
	for _, k := range Keys() {
		if k.Help == "" || strings.HasSuffix(k.Help, ".") {
			t.Errorf("%s: help %q, want a clause without a full stop", k.Name, k.Help)
		}
	}
}
