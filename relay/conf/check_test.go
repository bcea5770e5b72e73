package conf

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/moqmesh/moqmesh/internal/testcert"
)

// checked runs "moqmesh check" in a folder of its own.
type checked struct {
	status         int
	stdout, stderr string
}

func runCheck(t *testing.T, args ...string) checked {
	t.Helper()
	var stdout, stderr strings.Builder
	status := CheckMain(t.Context(), args, &stdout, &stderr)
	return checked{status, stdout.String(), stderr.String()}
}

func writeFile(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestCheckValidFile(t *testing.T) {
	got := runCheck(t, "../../configs/dev.toml")
	if got.status != 0 || got.stdout != "../../configs/dev.toml is valid\n" || got.stderr != "" {
		t.Errorf("check of a good file: %+v", got)
	}
}

// Three typos give three places in one run.
func TestCheckReportsEveryTypo(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "relay.toml", `[listen]
bnd = "[::]:443"
tls.generate = ["localhost"]

[web.htp]
listen = ":80"

[auth]
public = "**"
publik = "**"
`)
	got := runCheck(t, "relay.toml")
	want := `relay.toml:2:1: listen.bnd: unknown key; did you mean listen.bind?
relay.toml:5:6: web.htp: unknown table; did you mean web.http?
relay.toml:10:1: auth.publik: unknown key; did you mean auth.public?
`
	if got.status != 1 || got.stdout != want {
		t.Errorf("status %d, output:\n%s\nwant:\n%s", got.status, got.stdout, want)
	}
}

func TestCheckLooksAtFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	ca := testcert.NewCA(t, "test CA")
	ca.Write(t, ".", "ca.pem")
	ca.Server(t, "a.example").Write(t, ".", "a")
	ca.Server(t, "b.example").Write(t, ".", "b")
	const good = `
[listen.tls]
cert = ["a.crt", "b.crt"]
key = ["a.key", "b.key"]
root = "ca.pem"
`
	writeFile(t, "good.toml", good)
	if got := runCheck(t, "good.toml"); got.status != 0 {
		t.Errorf("good files: %+v", got)
	}
	writeFile(t, "bad.toml", `
[listen.tls]
cert = ["a.crt", "b.crt"]
key = ["b.key", "gone.key"]
root = ["a.key", "ca.pem", "gone.pem"]
[connect.tls]
cert = "a.crt"
key = "a.key"
[auth]
key = "keys"
`)
	got := runCheck(t, "bad.toml")
	for _, want := range []string{
		"bad.toml:3:1: listen.tls.cert: read a.crt with b.key: tls: private key does not match",
		"bad.toml:3:1: listen.tls.cert: read b.crt with gone.key: open gone.key",
		"bad.toml:5:1: listen.tls.root: a.key holds no certificate",
		"bad.toml:5:1: listen.tls.root: read the CA file: open gone.pem",
		"bad.toml:10:1: auth.key: stat keys",
	} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("no line %q in\n%s", want, got.stdout)
		}
	}
	if n := strings.Count(got.stdout, "\n"); got.status != 1 || n != 5 {
		t.Errorf("status %d with %d lines, want 1 with 5:\n%s", got.status, n, got.stdout)
	}
}

func TestCheckKinds(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "key.jwk", "{}")
	for config, want := range map[string]string{
		"key = \".\"":                             "auth.key: . is a directory, want a file",
		"key_dir = \"key.jwk\"":                   "auth.key_dir: key.jwk is a file, want a directory",
		"key = \"key.jwk\"":                       "",
		"key_dir = \".\"":                         "",
		"key = \"https://keys.example/root.jwk\"": "",
	} {
		writeFile(t, "relay.toml", "listen.tls.generate = [\"localhost\"]\n[auth]\n"+config)
		got := runCheck(t, "relay.toml")
		if want == "" && got.status != 0 || !strings.Contains(got.stdout, want) {
			t.Errorf("%s: %+v, want %q", config, got, want)
		}
	}
}

func TestCheckJSON(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "relay.toml", "[server]\nbind = \":1\"\ntls.generate = \"a\"\n[quic]\nidle = 3\n[auth]\npublic = \"**\"")
	got := runCheck(t, "--json", "--host", "relay.toml")
	var res result
	if err := json.Unmarshal([]byte(got.stdout), &res); err != nil {
		t.Fatalf("%v in %s", err, got.stdout)
	}
	if got.status != 1 || res.Valid || res.File != "relay.toml" || len(res.Warnings) != 2 || len(res.Problems) != 1 {
		t.Fatalf("status %d, %+v; want 1 problem and 2 warnings", got.status, res)
	}
	if p := res.Problems[0]; p.Line != 5 || p.Column != 1 || p.Key != "quic.idle" || p.File != "relay.toml" {
		t.Errorf("problem %+v, want its place", p)
	}
}

func TestCheckStrict(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "relay.toml", "listen.tls.generate = \"a\"\nauth.public = \"**\"\nstats.enabled = false")
	if got := runCheck(t, "relay.toml"); got.status != 0 || !strings.HasPrefix(got.stdout, "warning: relay.toml:3:7: stats.enabled:") {
		t.Errorf("check: %+v, want a warning only", got)
	}
	if got := runCheck(t, "--strict", "relay.toml"); got.status != 1 || strings.Contains(got.stdout, "is valid") {
		t.Errorf("check --strict: %+v, want status 1", got)
	}
}

func TestCheckHost(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "relay.toml", "listen.tls.generate = \"a\"\nauth.public = \"**\"\nlimits.sessions = 4000000000")
	got := runCheck(t, "--host", "relay.toml")
	if got.status != 0 || !strings.Contains(got.stdout, "ulimit -n 4000000128") {
		t.Errorf("check --host: %+v, want the cure for open files", got)
	}
	if got := runCheck(t, "--host"); got.status != 0 {
		t.Errorf("check --host without a file: %+v", got)
	}
}

func TestCheckUsage(t *testing.T) {
	for _, args := range [][]string{{}, {"--jsn", "a.toml"}, {"a.toml", "b.toml"}} {
		if got := runCheck(t, args...); got.status != 2 || got.stdout != "" || !strings.Contains(got.stderr, "Usage: moqmesh check") {
			t.Errorf("check %q: %+v, want the usage on stderr and 2", args, got)
		}
	}
	if got := runCheck(t, "-h"); got.status != 0 || !strings.HasPrefix(got.stdout, "Usage: moqmesh check") {
		t.Errorf("check -h: %+v", got)
	}
	if got := runCheck(t, "gone.toml"); got.status != 1 || !strings.Contains(got.stdout, "gone.toml") {
		t.Errorf("check of no file: %+v", got)
	}
}

func TestCheckCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	var stdout, stderr strings.Builder
	if status := CheckMain(ctx, []string{"../../configs/dev.toml"}, &stdout, &stderr); status != 1 || stderr.String() != "enough\n" {
		t.Errorf("status %d, stderr %q; want the cause", status, &stderr)
	}
}
