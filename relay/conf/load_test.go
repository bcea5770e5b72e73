package conf

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/moqmesh/moqmesh/internal/config"
)

// sources is a configuration in memory: one file, an environment, arguments.
type sources struct {
	file string
	env  map[string]string
	args []string
}

func (s sources) load() (Relay, Report, error) {
	args := s.args
	if s.file != "" {
		args = append([]string{"relay.toml"}, args...)
	}
	env := func(name string) (string, bool) { v, ok := s.env[name]; return v, ok }
	read := func(name string) ([]byte, error) {
		if name != "relay.toml" {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		return []byte(s.file), nil
	}
	return Load(args, env, read)
}

// minimal is what a relay needs to start, as flags.
var minimal = []string{"--listen-tls-generate=localhost", "--auth-public=**"}

func mustLoad(t *testing.T, s sources) (Relay, Report) {
	t.Helper()
	r, rep, err := s.load()
	if err != nil {
		t.Fatalf("load %+v: %v", s, err)
	}
	return r, rep
}

func loadSample(t *testing.T, name string) (Relay, Report) {
	t.Helper()
	r, rep, err := Load([]string{name}, noEnv, os.ReadFile)
	if err != nil {
		t.Fatalf("load %s:\n%v", name, err)
	}
	return r, rep
}

func TestBothDialectsMeanTheSame(t *testing.T) {
	released, warned := loadSample(t, "testdata/released.toml")
	canonical, quiet := loadSample(t, "testdata/canonical.toml")
	if diff := cmp.Diff(canonical, released); diff != "" {
		t.Errorf("released.toml differs from canonical.toml (-canonical +released):\n%s", diff)
	}
	if cmp.Equal(canonical, Default()) {
		t.Error("canonical.toml changes nothing")
	}
	if len(quiet.Warnings) > 0 {
		t.Errorf("canonical.toml warns: %v", quiet.Warnings)
	}
	seen := map[string]bool{}
	for _, w := range warned.Warnings {
		if seen[w.Key] || w.Origin.Line == 0 || !strings.Contains(w.Text, "released spelling, write ") {
			t.Errorf("warning %q: want one line for each released key, with its place", w)
		}
		seen[w.Key] = true
	}
	for _, key := range []string{"server.bind", "client.failover_delay", "client.tls.disable_verify", "auth.public.publish"} {
		if !seen[key] {
			t.Errorf("no warning for %s", key)
		}
	}
}

func TestReadyConfigurations(t *testing.T) {
	files, err := filepath.Glob("../../configs/*.toml")
	if err != nil || len(files) < 4 {
		t.Fatalf("found %q, %v: want the four ready-made files", files, err)
	}
	for _, name := range files {
		if _, rep := loadSample(t, name); len(rep.Warnings) > 0 {
			t.Errorf("%s warns: %v", name, rep.Warnings)
		}
	}
}

// Releases before 0.15 spelt these otherwise than their keys say.
func TestReleasedFlagsAndVariables(t *testing.T) {
	for _, tt := range []struct {
		args []string
		env  map[string]string
		want func(Relay) any
		is   any
	}{
		{args: []string{"--server-bind=:1"}, want: func(r Relay) any { return r.Listen.Bind }, is: config.HostPort(":1")},
		{args: []string{"--listen", ":1"}, want: func(r Relay) any { return r.Listen.Bind }, is: config.HostPort(":1")},
		{env: map[string]string{"MOQ_SERVER_BIND": ":1"}, want: func(r Relay) any { return r.Listen.Bind }, is: config.HostPort(":1")},
		{env: map[string]string{"MOQ_SERVER_TLS_GENERATE": "a,b"}, want: func(r Relay) any { return r.Listen.TLS.Generate }, is: []string{"a", "b"}},
		{args: []string{"--client-connect-timeout=3s"}, want: func(r Relay) any { return r.Connect.Timeout }, is: 3 * time.Second},
		{args: []string{"--client-reconnect=false"}, want: func(r Relay) any { return r.Connect.Once }, is: true},
		{args: []string{"--websocket-enabled=false"}, want: func(r Relay) any { return r.Connect.WebSocket.Enabled }, is: false},
		{env: map[string]string{"MOQ_CLIENT_WEBSOCKET_DELAY": "1s"}, want: func(r Relay) any { return r.Connect.WebSocket.Delay }, is: time.Second},
		{args: []string{"--client-tls-disable-verify"}, want: func(r Relay) any { return r.Connect.TLS.Insecure }, is: true},
		{args: []string{"--server-quic-max-streams", "7"}, want: func(r Relay) any { return r.QUIC.MaxStreams }, is: uint64(7)},
		{args: []string{"--client-max-streams", "7"}, want: func(r Relay) any { return r.QUIC.MaxStreams }, is: uint64(7)},
		{args: []string{"--tls-disable-verify"}, want: func(r Relay) any { return r.Connect.TLS.Insecure }, is: true},
		{args: []string{"--tls-root=a.pem"}, want: func(r Relay) any { return r.Connect.TLS.Root }, is: []string{"a.pem"}},
		{args: []string{"--auth-tls-root=a.pem"}, want: func(r Relay) any { return r.Connect.TLS.Root }, is: []string{"a.pem"}},
		{args: []string{"--backoff-max=9s"}, want: func(r Relay) any { return r.Connect.Backoff.Max }, is: 9 * time.Second},
		{env: map[string]string{"MOQ_GOAWAY_REDIRECT": "ignore"}, want: func(r Relay) any { return r.Connect.Goaway.Redirect }, is: Redirect("ignore")},
		{args: []string{"--auth-domain=a.example", "--auth-domain=b.example"}, want: func(r Relay) any { return r.Auth.Domains }, is: []string{"a.example", "b.example"}},
		{args: []string{"--auth-public", ""}, want: func(r Relay) any { return r.Auth.Public }, is: Rules{""}},
		{args: []string{"--drain-timeout=0"}, want: func(r Relay) any { return r.DrainTimeout }, is: time.Duration(0)},
	} {
		args := tt.args
		if tt.env["MOQ_SERVER_TLS_GENERATE"] == "" {
			args = append([]string{"--listen-tls-generate=localhost"}, args...)
		}
		if tt.args == nil || tt.args[0] != "--auth-public" {
			args = append(args, "--auth-public=**")
		}
		r, _ := mustLoad(t, sources{args: args, env: tt.env})
		if got := tt.want(r); !reflect.DeepEqual(got, tt.is) {
			t.Errorf("%q %v: got %#v, want %#v", tt.args, tt.env, got, tt.is)
		}
	}
}

// An explicit value, false too, must survive the weaker sources: a flag's
// unset false once switched off what the file had switched on.
func TestPrecedenceOfEveryBool(t *testing.T) {
	for _, k := range Keys() {
		if k.Form != "true or false" {
			continue
		}
		if k.Name == "cluster.mesh" {
			continue // needs a node; see TestMeshFlag
		}
		for combination := range 27 { // file, env, flag: each unset, false or true
			values := []int{combination % 3, combination / 3 % 3, combination / 9}
			checkBool(t, k, values)
		}
	}
}

func checkBool(t *testing.T, k config.Key, values []int) {
	t.Helper()
	s, want := sources{args: minimal, env: map[string]string{}}, k.Default
	for i, v := range values {
		if v == 0 {
			continue
		}
		want = fmt.Sprint(v == 2)
		switch i {
		case 0:
			s.file = k.Name + " = " + want
		case 1:
			s.env[k.Env] = want
		case 2:
			s.args = append([]string{"--" + k.Flag + "=" + want}, minimal...)
		}
	}
	r, rep, _ := s.load() // a combination may be refused by a rule; what was merged still counts
	got := schema().Print(r, &rep)
	if want == "" {
		if strings.Contains(got, k.Name+" = ") {
			t.Errorf("%s with (file, env, flag) %v is set, want unset", k.Name, values)
		}
	} else if !strings.Contains(got, k.Name+" = "+want+" ") {
		t.Errorf("%s with (file, env, flag) %v is not %s", k.Name, values, want)
	}
}

func TestPrecedenceOfLists(t *testing.T) {
	const file = "connect.tls.root = [\"file.pem\", \"file2.pem\"]"
	env := map[string]string{"MOQ_CONNECT_TLS_ROOT": "env.pem,env2.pem"}
	flags := append([]string{"--connect-tls-root=flag.pem", "--connect-tls-root", "flag2.pem,flag3.pem"}, minimal...)
	for _, tt := range []struct {
		s    sources
		want []string
	}{
		{sources{args: minimal}, nil},
		{sources{file: file, args: minimal}, []string{"file.pem", "file2.pem"}},
		{sources{file: "connect.tls.root = \"one.pem\"", args: minimal}, []string{"one.pem"}},
		{sources{file: file, env: env, args: minimal}, []string{"env.pem", "env2.pem"}},
		{sources{file: file, env: env, args: flags}, []string{"flag.pem", "flag2.pem", "flag3.pem"}},
		{sources{file: "connect.tls.root = []", args: minimal}, []string{}},
		{sources{file: file, env: map[string]string{"MOQ_CONNECT_TLS_ROOT": ""}, args: minimal}, []string{}},
		{sources{file: file, args: append([]string{"--connect-tls-root="}, minimal...)}, []string{}},
	} {
		if r, _ := mustLoad(t, tt.s); !cmp.Equal(r.Connect.TLS.Root, tt.want) {
			t.Errorf("%+v: root %q, want %q", tt.s, r.Connect.TLS.Root, tt.want)
		}
	}
}

func TestProblemsAreAllReported(t *testing.T) {
	s := sources{
		file: `drain_timeout = 5

[listen]
bind = "nowhere"
tls.certs = "a.pem"
tls.generate = "localhost"

[quic]
idle_timeut = "4s"
Gso = true

[auth]
public = "**"
url = "https://auth.example"
`,
		env:  map[string]string{"MOQ_QUIC_MAX_STREAMS": "many", "MOQ_IROH_SECRET": "x"},
		args: []string{"--lisen=:1", "--log-level=loud", "--quic-gso=perhaps", "--runtime-workers", "4", "--cluster-id=0"},
	}
	_, _, err := s.load()
	want := strings.TrimSpace(`
--lisen: unknown flag; did you mean --listen?
--runtime-workers: not supported by moqmesh: the Go runtime uses all cores
--log-level: found "loud", want one of error, warn, info, debug, trace
--quic-gso: found "perhaps", want true or false
MOQ_IROH_SECRET: not supported by moqmesh
MOQ_QUIC_MAX_STREAMS: found "many", want a whole number, 0 or more
relay.toml:1:1: drain_timeout: found 5, want a duration such as "10s" or "500ms"
relay.toml:4:1: listen.bind: found "nowhere", want host:port such as "[::]:443"
relay.toml:5:5: listen.tls.certs: unknown key; did you mean listen.tls.cert?
relay.toml:9:1: quic.idle_timeut: unknown key; did you mean quic.idle_timeout?
relay.toml:10:1: quic.Gso: unknown key; did you mean quic.gso?
relay.toml:14:1: auth.url: not supported by moqmesh: use auth.key, auth.key_dir, auth.auth_api or public rules
--cluster-id: --cluster-id must be non-zero`)
	if err == nil {
		t.Fatal("no error")
	}
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if code := config.Exit(err, new(strings.Builder), new(strings.Builder)); code != 2 {
		t.Errorf("exit status %d, want 2: the command line is wrong", code)
	}
}

func TestConflictingSpellings(t *testing.T) {
	for name, tt := range map[string]struct {
		s    sources
		want string // in the error; "" = none
	}{
		"same value": {sources{file: "listen.bind = \":1\"\nserver.bind = \":1\""}, ""},
		"file": {sources{file: "listen.bind = \":1\"\nserver.bind = \":2\""},
			"relay.toml:2:8: server.bind: conflicts with listen.bind (relay.toml:1:8), another spelling"},
		"two old tables": {sources{file: "[client.quic]\nmax_streams = 1\n[server.quic]\nmax_streams = 2"},
			"relay.toml:4:1: server.quic.max_streams: conflicts with client.quic.max_streams (relay.toml:2:1)"},
		"flags": {sources{args: []string{"--listen=:1", "--server-bind=:2"}},
			"--server-bind: conflicts with --listen"},
		"a stronger source does not hide it": {sources{file: "listen.bind = \":1\"\nserver.bind = \":2\"", args: []string{"--listen=:3"}},
			"conflicts with listen.bind"},
		"different sources": {sources{file: "server.bind = \":1\"", args: []string{"--listen=:3"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			tt.s.args = append(tt.s.args, minimal...)
			_, _, err := tt.s.load()
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

// Credentials must not appear, whatever is wrong with the setting that holds them.
func TestSecretsStayHidden(t *testing.T) {
	const secret = "SeCrEt"
	for _, s := range []sources{
		{file: "cluster.connect = [\"https://a.example/?jwt=SeCrEt\"]"},
		{file: "cluster.connect = [{url = \"https://a.example/?jwt=SeCrEt\", cst = 1}]"},
		{file: "cluster.connect = [{url = \"https://a.example/\", token = \"SeCrEt\", cost = \"SeCrEt\"}]"},
		{file: "cluster.connect_api = \"https://user:SeCrEt@a.example/?jwt=SeCrEt\""},
		{file: "cluster.node = \"https://a.example/?jwt=SeCrEt\"\ncluster.mesh = true"},
		{file: "cluster.mesh = \"https://a.example/?jwt=SeCrEt\""},
		{file: "auth.auth_api = \"https://a.example/?key=SeCrEt\"\nauth.key = 3"},
		{file: "auth.key = [\"SeCrEt\"]"},
		{file: "connect.url = \"https://a.example/?jwt=SeCrEt\""},
		{env: map[string]string{"MOQ_CLUSTER_CONNECT": "https://a.example/?jwt=SeCrEt"}},
		{args: []string{"--cluster-conect=https://a.example/?jwt=SeCrEt"}},
		{args: []string{"--cluster-conect", "https://a.example/?jwt=SeCrEt"}},
		{args: []string{"a.toml", "https://a.example/?jwt=SeCrEt"}},
	} {
		s.args = append(s.args, minimal...)
		r, rep, err := s.load()
		shown := fmt.Sprint(err, rep.Warnings, schema().Print(r, &rep))
		if strings.Contains(shown, secret) {
			t.Errorf("%+v shows the secret:\n%s", s, shown)
		}
	}
}

func TestPrintConfig(t *testing.T) {
	_, _, err := sources{
		file: "quic.idle_timeout = \"20s\"\nconnect.url = \"https://a.example/x?jwt=T\"",
		env:  map[string]string{"MOQ_WEB_WS": "false"},
		args: append([]string{"--print-config"}, minimal...),
	}.load()
	var stop *config.Stop
	if !errors.As(err, &stop) {
		t.Fatalf("error %v, want the answer", err)
	}
	for _, line := range []string{
		"quic.idle_timeout = \"20s\"                    # relay.toml:1:6",
		"connect.url = \"https://a.example/x\"          # relay.toml:2:9",
		"web.ws = false                               # MOQ_WEB_WS",
		"auth.public = [\"**\"]                         # --auth-public",
		"quic.gso = true                              # default",
	} {
		if !strings.Contains(stop.Output, line+"\n") {
			t.Errorf("no line %q in\n%s", line, stop.Output)
		}
	}
	again, _ := mustLoad(t, sources{file: stop.Output})
	if again.QUIC.IdleTimeout != 20*time.Second || again.Web.WS || !cmp.Equal(again.Auth.Public, Rules{"**"}) {
		t.Errorf("the printed configuration reads as %+v", again)
	}
}

func TestListenDefault(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want config.HostPort
	}{
		{nil, "[::]:443"},
		{[]string{"--listen-tcp-bind=localhost:1"}, ""},
		{[]string{"--listen-unix-bind=/run/moq"}, ""},
		{[]string{"--listen-tcp-bind=localhost:1", "--listen=[::]:443"}, "[::]:443"},
	} {
		if r, _ := mustLoad(t, sources{args: append(tt.args, minimal...)}); r.Listen.Bind != tt.want {
			t.Errorf("%q: bind %q, want %q", tt.args, r.Listen.Bind, tt.want)
		}
	}
}

func TestClusterForms(t *testing.T) {
	r, _, _ := sources{file: `
[cluster]
mesh = "https://me.example/"
internal_peers = ["10.1.2.3/8", "::1"]
[[cluster.connect]]
url = "https://a.example/"
cost = 10
egress = 0
token = "T"
id = 7
[listen.tls.scopes]
"edge.one" = "live/**"
edge2 = ["a/**", "b/**"]
`}.load()
	ten, zero, seven := uint64(10), uint64(0), uint64(7)
	want := Peers{{URL: "https://a.example/", Cost: &ten, Egress: &zero, Token: "T", ID: &seven}}
	if diff := cmp.Diff(want, r.Cluster.Connect); diff != "" {
		t.Errorf("connect (-want +got):\n%s", diff)
	}
	if r.Cluster.Mesh != (Mesh{On: true, Node: "https://me.example/"}) {
		t.Errorf("mesh %+v, want the released form", r.Cluster.Mesh)
	}
	if got := fmt.Sprint(r.Cluster.InternalPeers[0].Prefix, r.Cluster.InternalPeers[1].Prefix); got != "10.0.0.0/8 ::1/128" {
		t.Errorf("internal peers %s", got)
	}
	scopes := Scopes{"edge.one": {"live/**"}, "edge2": {"a/**", "b/**"}}
	if diff := cmp.Diff(scopes, r.Listen.TLS.Scopes, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("scopes (-want +got):\n%s", diff)
	}
}

func TestMeshFlag(t *testing.T) {
	for arg, want := range map[string]Mesh{
		"--cluster-mesh":           {On: true},
		"--cluster-mesh=true":      {On: true},
		"--cluster-mesh=false":     {},
		"--cluster-mesh=host:4443": {On: true, Node: "host:4443"},
	} {
		if r, _, _ := (sources{args: []string{arg}}).load(); r.Cluster.Mesh != want {
			t.Errorf("%s: %+v, want %+v", arg, r.Cluster.Mesh, want)
		}
	}
}

func TestStatsWarnOnce(t *testing.T) {
	_, rep := mustLoad(t, sources{file: "[stats]\nenabled = true\nnode = \"a\"\ninterval = 2", args: minimal})
	if len(rep.Warnings) != 1 || !strings.Contains(rep.Warnings[0].Error(), "relay.toml:2:1: stats.enabled: stats broadcasts are not built") {
		t.Errorf("warnings %v, want one", rep.Warnings)
	}
}

func TestHelpAndVersion(t *testing.T) {
	for arg, want := range map[string]string{
		"-h": "Usage: moqmesh-relay", "--help": "--listen-tls-cert", "-V": "moqmesh-relay devel\n", "--version": "moqmesh-relay devel\n",
	} {
		_, _, err := Load([]string{arg}, noEnv, os.ReadFile)
		var out, errs strings.Builder
		if code := config.Exit(err, &out, &errs); code != 0 || errs.Len() > 0 || !strings.Contains(out.String(), want) {
			t.Errorf("%s: status %d, stdout %q, stderr %q; want %q on stdout", arg, code, &out, &errs, want)
		}
	}
}

func TestUnreadableFile(t *testing.T) {
	_, _, err := Load([]string{"/nonexistent/relay.toml"}, noEnv, os.ReadFile)
	if err == nil || !strings.Contains(err.Error(), "read the configuration: open /nonexistent/relay.toml") {
		t.Errorf("error %v, want the file named", err)
	}
}
