package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/moqmesh/moqmesh/relay"
	"github.com/moqmesh/moqmesh/relay/conf"
	"github.com/moqmesh/moqmesh/token"
)

var rewrite = flag.Bool("rewrite", false, "write what the scripts print into them")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"moqmesh": main})
}

// TestScripts runs testdata/script. Each has a relay of its own at $RELAY
// (host:port), with plain HTTP at $WEB and its operator's pages at $INTERNAL. Everybody may do everything
// below anon/; the rest needs a token of key.jwk.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		Setup:         setup,
		UpdateScripts: *rewrite,
		Cmds:          map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "envfile": envFile},
	})
}

// exits runs a program that must end with a status: exits STATUS program [arguments].
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS program [arguments]")
	}
	status := 0
	var ended *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &ended) {
		status = ended.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(status) != args[0] {
		ts.Fatalf("status %d, want %s", status, args[0])
	}
}

// envFile sets a variable to what a file holds: envfile NAME FILE.
func envFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: envfile NAME FILE")
	}
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile(args[1])))
}

func setup(env *testscript.Env) error {
	key, err := token.GenerateKey("HS256", "test", nil)
	if err != nil {
		return err
	}
	keyFile := filepath.Join(env.WorkDir, "key.jwk")
	if err := os.WriteFile(keyFile, []byte(key.Encode()), 0o600); err != nil {
		return err
	}
	addrs, stop, err := startRelay("--listen", "127.0.0.1:0", "--listen-tls-generate", "127.0.0.1",
		"--web-http-listen", "127.0.0.1:0", "--internal-listen", "127.0.0.1:0", "--auth-public", "anon/**", "--auth-key", keyFile)
	if err != nil {
		return err
	}
	env.Defer(stop)
	env.Setenv("RELAY", addrs["quic"])
	env.Setenv("WEB", addrs["http"])
	env.Setenv("INTERNAL", addrs["internal"])
	return nil
}

// startRelay runs a relay in this process.
func startRelay(args ...string) (addrs map[string]string, stop func(), err error) {
	noEnv := func(string) (string, bool) { return "", false }
	cfg, _, err := conf.Load(args, noEnv, os.ReadFile)
	if err != nil {
		return nil, nil, err
	}
	r, err := relay.New(cfg, relay.Options{})
	if err != nil {
		return nil, nil, err
	}
	if err := r.Listen(context.Background()); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = r.Run(ctx, ctx)
	}()
	addrs = make(map[string]string)
	for kind, addr := range r.Addrs() {
		addrs[kind] = addr.String()
	}
	return addrs, func() { cancel(); <-done }, nil
}

// TestHelp compares every -h with its golden file.
func TestHelp(t *testing.T) {
	for _, words := range []string{
		"", "publish", "subscribe", "announced", "routes", "fetch", "token", "token generate", "token sign", "token verify", "version",
	} {
		var out, stderr strings.Builder
		status := run(t.Context(), append(strings.Fields(words), "-h"), streams{strings.NewReader(""), &out, &stderr})
		if status != exitOK || stderr.Len() > 0 {
			t.Errorf("moqmesh %s -h = %d, %q, want 0 and no complaint", words, status, stderr.String())
		}
		golden := filepath.Join("testdata", "help", strings.ReplaceAll(fmt.Sprintf("moqmesh %s.txt", words), " ", "-"))
		golden = strings.ReplaceAll(golden, "-.txt", ".txt")
		if *rewrite {
			if err := os.WriteFile(golden, []byte(out.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if out.String() != string(want) {
			t.Errorf("moqmesh %s -h differs from %s (go test -rewrite writes it):\n%s", words, golden, out.String())
		}
	}
}
