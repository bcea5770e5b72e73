package token

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// peer returns a program of the Rust implementation.
func peer(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("MOQ_PEERS")
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); dir == "" || err != nil {
		if os.Getenv("MOQMESH_STRICT") == "1" {
			t.Fatalf("%s is missing; MOQ_PEERS must name its folder", name)
		}
		t.Skipf("set MOQ_PEERS to the folder of %s to run this", name)
	}
	return path
}

func run(t *testing.T, stdin, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = strings.NewReader(stdin), &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", filepath.Base(name), args, err, stderr.String())
	}
	return strings.TrimSpace(string(out))
}

// The Rust tools of both generations and we read each other's keys and tokens.
func TestPeersKeysAndTokens(t *testing.T) {
	tools := map[string][]string{"S": {peer(t, "moq-token")}, "N": {peer(t, "moq"), "auth"}}
	grants := map[string]struct{ flag, pattern string }{"S": {"cam", "cam/**"}, "N": {"cam/*/hd", "cam/*/hd"}}
	for generation, tool := range tools {
		for _, alg := range []string{"HS256", "HS384", "HS512", "RS256", "PS512", "ES256", "ES384", "EdDSA"} {
			t.Run(generation+"/"+alg, func(t *testing.T) {
				theirs := func(stdin string, args ...string) string {
					return run(t, stdin, tool[0], append(append([]string{}, tool[1:]...), args...)...)
				}
				keyFile := filepath.Join(t.TempDir(), "key.jwk")
				theirKey := theirs("", "generate", "--algorithm", alg)
				k, err := ParseKey([]byte(theirKey))
				if err != nil {
					t.Fatal(err)
				}

				if err := os.WriteFile(keyFile, []byte(k.Encode()), 0o600); err != nil { // their key, written by us
					t.Fatal(err)
				}
				grant := grants[generation]
				signed := theirs("", "sign", "--key", keyFile, "--root", "demo", "--publish", grant.flag, "--expires", "4000000000")
				set := mustSet(t, k)
				c, err := set.Verify(noon, signed)
				if err != nil {
					t.Fatal(err)
				}
				if c.Root != "demo" || c.Publish.String() != grant.pattern || c.Subscribe != nil || c.Expires.Unix() != 4000000000 {
					t.Errorf("their token reads %+v", c)
				}

				ours := mustKey(t, alg, "")
				if err := os.WriteFile(keyFile, []byte(ours.Encode()), 0o600); err != nil {
					t.Fatal(err)
				}
				mine, err := ours.Sign(Claims{Scope: Scope{Root: "demo", Subscribe: mustPatterns(t, grant.pattern)}, Expires: time.Now().Add(time.Hour)})
				if err != nil {
					t.Fatal(err)
				}
				if out := theirs(mine, "verify", "--key", keyFile); !strings.Contains(out, `"`+grant.flag) {
					t.Errorf("they read our token as %s", out)
				}
			})
		}
	}
}
