package main

import (
	"crypto/tls"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"github.com/moqmesh/moqmesh/internal/certs"
	"github.com/moqmesh/moqmesh/internal/testcert"
	"github.com/moqmesh/moqmesh/moq/transport"
	"github.com/moqmesh/moqmesh/token"
)

// provide puts the files beside each other that those in configs/ name.
func provide(t *testing.T, dir string) {
	t.Helper()
	ca := testcert.NewCA(t, "test CA")
	server, own := ca.Server(t, "relay.example"), ca.Client(t, "relay.example")
	key, err := token.GenerateKey("ES256", "root", nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"tls/relay.example.pem": server.CertPEM,
		"tls/relay.example.key": server.KeyPEM,
		"tls/clients-ca.pem":    ca.PEM(),
		"tls/client.pem":        own.CertPEM,
		"tls/client.key":        own.KeyPEM,
		"keys/root.jwk":         key.JSON(),
		"peers.json":            []byte(`["https://eu-west.example/?cost=10"]`),
	} {
		write(t, filepath.Join(dir, name), string(content))
	}
}

// Every file in configs/ starts a relay, on other ports than it says.
func TestConfigsStart(t *testing.T) {
	files, err := filepath.Glob("../../configs/*.toml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in configs: %v", err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			content, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			provide(t, dir)
			write(t, filepath.Join(dir, "relay.toml"), string(content))
			args := []string{"relay.toml", "--listen=127.0.0.1:0", "--internal-listen=127.0.0.1:0"}
			for _, kind := range []string{"http", "https"} {
				if strings.Contains(string(content), "[web."+kind+"]") {
					args = append(args, "--web-"+kind+"-listen=127.0.0.1:0")
				}
			}
			c := spawn(t, dir, args...)
			if status, body := get(t, "http://"+c.addr(t, "internal")+"/ready"); status != 200 {
				t.Errorf("/ready = %d %q", status, body)
			}
			leaf(t, c)
			c.signal(t, syscall.SIGTERM)
			if status := c.exit(t); status != 0 {
				t.Errorf("status %d, want 0", status)
			}
			if strings.Contains(c.log(), "level=ERROR") || strings.Contains(c.log(), "msg=configuration ") {
				t.Error("the relay complains of the file")
			}
		})
	}
}

// leaf is the fingerprint of the certificate that a QUIC handshake gets.
func leaf(t *testing.T, c *child) string {
	t.Helper()
	q, err := quic.DialAddr(t.Context(), c.addr(t, "quic"),
		&tls.Config{InsecureSkipVerify: true, NextProtos: []string{http3.NextProtoH3}}, transport.DefaultQUIC())
	if err != nil {
		t.Fatalf("handshake: %v", err)
	}
	defer q.CloseWithError(0, "")
	return certs.Fingerprint(q.ConnectionState().TLS.PeerCertificates[0].Raw)
}

// webLeaf is the same for HTTPS.
func webLeaf(t *testing.T, c *child) string {
	t.Helper()
	conn, err := tls.Dial("tcp", c.addr(t, "https"), &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatalf("handshake: %v", err)
	}
	defer conn.Close()
	return certs.Fingerprint(conn.ConnectionState().PeerCertificates[0].Raw)
}

// A15, A55: certificate and key are replaced one after the other. No handshake
// fails meanwhile, new ones get the new pair, and open sessions stay.
func TestA15A55CertificateRotation(t *testing.T) {
	dir := t.TempDir()
	ca := testcert.NewCA(t, "test CA")
	first, second := ca.Server(t, "relay.example"), ca.Server(t, "relay.example")
	crt, key := first.Write(t, dir, "relay")
	c := spawn(t, dir, "--listen=127.0.0.1:0", "--listen-tls-cert="+crt, "--listen-tls-key="+key,
		"--web-https-listen=127.0.0.1:0", "--web-https-cert="+crt, "--web-https-key="+key, "--auth-public=**")
	sessions := []*caller{call(t, "moqt://"+c.addr(t, "quic")+"/"), call(t, "wss://"+c.addr(t, "https")+"/")}
	old, fresh := certs.Fingerprint(first.TLS.Leaf.Raw), certs.Fingerprint(second.TLS.Leaf.Raw)
	both := func(want string) bool { return leaf(t, c) == want && webLeaf(t, c) == want }

	replace(t, crt, second.CertPEM)
	c.says(t, 0, "failed to reload server certificates")
	c.says(t, 0, "failed to reload web certificate")
	if !both(old) {
		t.Error("half a pair is in use")
	}
	replace(t, key, second.KeyPEM)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); !both(fresh); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatal("the new pair is never in use")
		}
	}
	_, at := c.says(t, 0, "cluster initialized")
	replace(t, crt, []byte("no certificate"))
	for range 3 { // those of before, and this one
		_, at = c.says(t, at, "failed to reload")
	}
	if !both(fresh) {
		t.Error("a broken file took the last good pair away")
	}
	for _, p := range sessions {
		p.alive(t)
	}
}

// replace changes a file the way editors do: by renaming another over it.
func replace(t *testing.T, name string, content []byte) {
	t.Helper()
	write(t, name+".new", string(content))
	if err := os.Rename(name+".new", name); err != nil {
		t.Fatal(err)
	}
}

// A48: the configuration is read again when its file changes and on SIGHUP.
// What is wrong with it leaves the running one alone; sessions stay.
func TestA48ConfigurationReload(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "relay.toml")
	const head = "[listen]\nbind = \"127.0.0.1:0\"\ntls.generate = [\"localhost\"]\n[web.http]\nlisten = \"127.0.0.1:0\"\n"
	write(t, file, head+"[auth]\npublic = \"anon/**\"\n")
	c := spawn(t, dir, "relay.toml")
	web := "http://" + c.addr(t, "http")
	p := call(t, "moqt://"+c.addr(t, "quic")+"/anon")
	c.says(t, 0, "session accepted")
	if status, _ := get(t, web+"/announced/demo"); status != 401 {
		t.Errorf("before: status %d, want 401", status)
	}

	replace(t, file, []byte(head+"[auth]\npublic = [\"anon/**\", \"demo/**\"]\n"))
	_, at := c.says(t, 0, "configuration changed", "key=auth.public")
	if status, _ := get(t, web+"/announced/demo"); status != 200 {
		t.Errorf("after: status %d, want 200", status)
	}

	replace(t, file, []byte(head+"[auth]\npublik = \"**\"\n"))
	_, at = c.says(t, at, "configuration not reloaded; keeping the running one", "did you mean auth.public?")
	c.signal(t, syscall.SIGHUP)
	_, at = c.says(t, at, "configuration not reloaded; keeping the running one")
	if status, _ := get(t, web+"/announced/demo"); status != 200 {
		t.Errorf("after a broken file: status %d, want 200", status)
	}

	replace(t, file, []byte(strings.Replace(head, "127.0.0.1:0", "127.0.0.1:1", 1)+"[auth]\npublic = \"anon/**\"\n"))
	_, at = c.says(t, at, "configuration change needs a restart", "key=listen.bind")
	c.says(t, at, "configuration reloaded")
	p.alive(t)
}
