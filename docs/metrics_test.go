package docs_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/moqmesh/moqmesh/relay"
	"github.com/moqmesh/moqmesh/relay/conf"
)

// scrape starts a relay and returns its metrics in text form.
func scrape(t *testing.T) string {
	t.Helper()
	cfg, _, err := conf.Load([]string{
		"--listen", "127.0.0.1:0", "--listen-tls-generate", "localhost", "--internal-listen", "127.0.0.1:0", "--auth-public", "**",
	}, func(string) (string, bool) { return "", false }, os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	r, err := relay.New(cfg, relay.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Listen(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx, context.Background()) }()
	defer func() { cancel(); <-ended }()

	response, err := http.Get(fmt.Sprintf("http://%s/metrics", r.Addrs()["internal"]))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// labels of a sample, without those that a histogram adds.
func labels(sample string) string {
	var names []string
	for _, m := range regexp.MustCompile(`[{,]([a-z_]+)="`).FindAllStringSubmatch(sample, -1) {
		if m[1] != "le" {
			names = append(names, "`"+m[1]+"`")
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// seriesTable is the table of our series in the order of their names.
func seriesTable(text string) string {
	const prefix = "moqmesh_relay_"
	var table strings.Builder
	table.WriteString("| series | type | labels | meaning |\n|---|---|---|---|\n")
	var name, help, kind string
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		line := lines.Text()
		if rest, ok := strings.CutPrefix(line, "# HELP "); ok {
			name, help, _ = strings.Cut(rest, " ")
		} else if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			_, kind, _ = strings.Cut(rest, " ")
		} else if strings.HasPrefix(name, prefix) {
			fmt.Fprintf(&table, "| `%s` | %s | %s | %s |\n", name, kind, labels(line), help)
			name = "" // one row, however many samples
		}
	}
	return table.String()
}

func TestMetricsListsEverySeries(t *testing.T) {
	const begin, end = "<!-- series -->\n", "<!-- /series -->\n"
	doc := read(t, "metrics.md")
	before, rest, ok := strings.Cut(doc, begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("metrics.md lacks the marks %q and %q", begin, end)
	}
	want := before + begin + seriesTable(scrape(t)) + end + after
	if *rewrite {
		if err := os.WriteFile("metrics.md", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, doc); diff != "" {
		t.Errorf("metrics.md is not what the code says; see the difference and run go test -rewrite (-code +file):\n%s", diff)
	}
}
