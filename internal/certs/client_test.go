package certs

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/moqmesh/moqmesh/internal/testcert"
)

func TestClientConflicts(t *testing.T) {
	yes, no := new(true), new(false)
	pin := strings.Repeat("ab", 32)
	for name, tc := range map[string]struct {
		cfg  ClientConfig
		want string // empty = no conflict
	}{
		"nothing set":                   {ClientConfig{}, ""},
		"roots":                         {ClientConfig{Roots: []string{"a"}}, ""},
		"roots and system":              {ClientConfig{Roots: []string{"a"}, SystemRoots: yes}, ""},
		"roots alone":                   {ClientConfig{Roots: []string{"a"}, SystemRoots: no}, ""},
		"pins":                          {ClientConfig{Fingerprints: []string{pin}}, ""},
		"pins, no system":               {ClientConfig{Fingerprints: []string{pin}, SystemRoots: no}, ""},
		"insecure":                      {ClientConfig{Insecure: true}, ""},
		"insecure, no system":           {ClientConfig{Insecure: true, SystemRoots: no}, ""},
		"insecure and client cert":      {ClientConfig{Insecure: true, Cert: "a", Key: "b"}, ""},
		"insecure and roots":            {ClientConfig{Insecure: true, Roots: []string{"a"}}, "insecure cannot"},
		"insecure and system":           {ClientConfig{Insecure: true, SystemRoots: yes}, "insecure cannot"},
		"insecure and pins":             {ClientConfig{Insecure: true, Fingerprints: []string{pin}}, "insecure cannot"},
		"pins and roots":                {ClientConfig{Fingerprints: []string{pin}, Roots: []string{"a"}}, "replace roots"},
		"pins and system":               {ClientConfig{Fingerprints: []string{pin}, SystemRoots: yes}, "replace roots"},
		"nobody":                        {ClientConfig{SystemRoots: no}, "nobody is trusted"},
		"certificate without key":       {ClientConfig{Cert: "a"}, "both certificate and key"},
		"key without certificate":       {ClientConfig{Key: "a"}, "both certificate and key"},
		"bad pin":                       {ClientConfig{Fingerprints: []string{"abc"}}, "not a SHA-256"},
		"two conflicts, second is told": {ClientConfig{SystemRoots: no, Key: "a"}, "both certificate and key"},
	} {
		_, err := NewClient(tc.cfg)
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: NewClient = %v, want %q", name, err, tc.want)
		}
	}
}

func TestInsecureWarns(t *testing.T) {
	var l logs
	c := loadedClient(t, ClientConfig{Insecure: true, Log: l.logger()})
	if l.count("man in the middle") != 1 {
		t.Errorf("log:\n%s", l.buf.String())
	}
	if e := shake(t, c.TLS(), loaded(t, Config{Generate: []string{"x"}}).TLS()); !e.ok() {
		t.Errorf("handshake: %v, %v", e.clientErr, e.serverErr)
	}
}

func TestClientTrust(t *testing.T) {
	ca, other, dir := testcert.NewCA(t, "ca"), testcert.NewCA(t, "other"), t.TempDir()
	pair := ca.Server(t, "relay.test")
	cert, key := pair.Write(t, dir, "relay")
	server := loaded(t, Config{Certs: []string{cert}, Keys: []string{key}}).TLS()
	caFile, otherFile := ca.Write(t, dir, "ca.pem"), other.Write(t, dir, "other.pem")
	pin := Fingerprint(pair.TLS.Leaf.Raw)
	for name, tc := range map[string]struct {
		cfg  ClientConfig
		dial string
		ok   bool
	}{
		"authority":        {ClientConfig{Roots: []string{caFile}}, "relay.test", true},
		"second authority": {ClientConfig{Roots: []string{otherFile, caFile}, SystemRoots: new(true)}, "relay.test", true},
		"other authority":  {ClientConfig{Roots: []string{otherFile}}, "relay.test", false},
		"system only":      {ClientConfig{}, "relay.test", false},
		"other name":       {ClientConfig{Roots: []string{caFile}}, "10.0.0.1", false},
		"name set":         {ClientConfig{Roots: []string{caFile}, HostName: "relay.test"}, "10.0.0.1", true},
		"pin":              {ClientConfig{Fingerprints: []string{pin}}, "10.0.0.1", true},
		"one of two pins":  {ClientConfig{Fingerprints: []string{strings.Repeat("00", 32), pin}}, "relay.test", true},
		"pin of another":   {ClientConfig{Fingerprints: []string{strings.Repeat("00", 32)}}, "relay.test", false},
	} {
		client := loadedClient(t, tc.cfg).TLS()
		if client.ServerName == "" {
			client.ServerName = tc.dial
		}
		if e := shake(t, client, server); e.ok() != tc.ok {
			t.Errorf("%s: %v, %v, want ok %v", name, e.clientErr, e.serverErr, tc.ok)
		}
	}
}

func TestClientTrustsNobodyBeforeLoad(t *testing.T) {
	dir := t.TempDir()
	c, err := NewClient(ClientConfig{Roots: []string{dir + "/missing.pem"}, Cert: dir + "/c", Key: dir + "/k"})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Load(t.Context()); err == nil || strings.Count(err.Error(), "no such file") != 2 {
		t.Errorf("Load = %v, want both files", err)
	}
	if cfg := c.TLS(); cfg.RootCAs == nil {
		t.Error("without its own roots the client falls back on the system's")
	}
	if _, err := c.TLS().GetClientCertificate(nil); err == nil {
		t.Error("a certificate that was never loaded is presented")
	}
}

func TestClientReloads(t *testing.T) {
	ca, dir := testcert.NewCA(t, "ca"), t.TempDir()
	other := testcert.NewCA(t, "other")
	serverCert, serverKey := ca.Server(t, "relay.test").Write(t, dir, "relay")
	server := loaded(t, Config{Certs: []string{serverCert}, Keys: []string{serverKey}, Roots: []string{ca.Write(t, dir, "server-roots.pem")}}).TLS()
	roots := other.Write(t, dir, "roots.pem")
	cert, key := other.Client(t, "edge").Write(t, dir, "edge")
	c, err := NewClient(ClientConfig{Roots: []string{roots}, Cert: cert, Key: key, HostName: "relay.test", Period: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	start(t, c)
	until(t, "watch", func() bool { return c.trust.get().roots.Status().Watching && c.trust.get().pair.Status().Watching })
	if shake(t, c.TLS(), server).ok() {
		t.Fatal("a server of an unknown authority was accepted")
	}
	write(t, roots, ca.PEM())
	next := ca.Client(t, "edge")
	write(t, cert, next.CertPEM)
	write(t, key, next.KeyPEM)
	until(t, "handshake with the new files", func() bool {
		e := shake(t, c.TLS(), server)
		return e.ok() && len(e.server.ConnectionState().VerifiedChains) == 1
	})
}

func TestClientTLSReadsOnce(t *testing.T) {
	ca, dir := testcert.NewCA(t, "ca"), t.TempDir()
	cfg, err := ClientTLS(t.Context(), ClientConfig{Roots: []string{ca.Write(t, dir, "ca.pem")}})
	if err != nil || !cfg.RootCAs.Equal(ca.Pool()) {
		t.Errorf("ClientTLS = %v, want the roots of the file", err)
	}
	for _, bad := range []ClientConfig{{SystemRoots: new(false)}, {Roots: []string{dir + "/missing"}}} {
		if _, err := ClientTLS(t.Context(), bad); err == nil {
			t.Errorf("ClientTLS(%+v) succeeded", bad)
		}
	}
}

func TestHTTPClientPresentsItsCertificate(t *testing.T) {
	ca, dir := testcert.NewCA(t, "ca"), t.TempDir()
	serverCert, serverKey := ca.Server(t, "127.0.0.1").Write(t, dir, "server")
	caFile := ca.Write(t, dir, "ca.pem")
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.TLS.PeerCertificates[0].Subject.CommonName)
	}))
	srv.TLS = loaded(t, Config{Certs: []string{serverCert}, Keys: []string{serverKey}, Roots: []string{caFile}, Web: true}).TLS("h2", "http/1.1")
	srv.StartTLS()
	defer srv.Close()

	cert, key := ca.Client(t, "edge-1").Write(t, dir, "edge")
	client := loadedClient(t, ClientConfig{Roots: []string{caFile}, Cert: cert, Key: key}).HTTPClient()
	defer client.CloseIdleConnections()
	resp, err := client.Get(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, _ := io.ReadAll(resp.Body); string(body) != "edge-1" {
		t.Errorf("the server saw %q, want edge-1", body)
	}
}
