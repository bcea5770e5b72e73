package certs

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/moqmesh/moqmesh/internal/testcert"
)

func TestNewRefuses(t *testing.T) {
	for name, cfg := range map[string]Config{
		"nothing":       {},
		"missing key":   {Certs: []string{"a", "b"}, Keys: []string{"a"}},
		"missing cert":  {Keys: []string{"a"}},
		"empty path":    {Certs: []string{""}, Keys: []string{"a"}},
		"address roots": {Generate: []string{"a"}, Roots: []string{"ftp://a"}},
	} {
		if _, err := New(cfg); err == nil {
			t.Errorf("%s: New succeeded", name)
		}
	}
}

func TestLoadRefusesKeyOfAnother(t *testing.T) {
	ca, dir := testcert.NewCA(t, "ca"), t.TempDir()
	cert, _ := ca.Server(t, "a.test").Write(t, dir, "a")
	_, key := ca.Server(t, "b.test").Write(t, dir, "b")
	s, err := New(Config{Certs: []string{cert}, Keys: []string{key}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Load(t.Context()); err == nil || !strings.Contains(err.Error(), cert) {
		t.Errorf("Load = %v, want an error that names the file", err)
	}
	if _, err := s.GetCertificate(&tls.ClientHelloInfo{}); err == nil {
		t.Error("a certificate without its key answers handshakes")
	}
	if s.SHA256() != "" || len(s.Listing().Certificates) != 0 {
		t.Error("a certificate without its key is listed")
	}
}

func TestSelectionByName(t *testing.T) {
	ca, dir := testcert.NewCA(t, "ca"), t.TempDir()
	var l logs
	cfg := Config{Generate: []string{"gen.test", "both.test"}, Log: l.logger()}
	want := map[string]string{}
	for _, names := range []string{"a.test both.test", "b.test *.wild.test", "both.test"} {
		pair := ca.Server(t, strings.Fields(names)...)
		cert, key := pair.Write(t, dir, strings.Fields(names)[0]+"1")
		cfg.Certs, cfg.Keys = append(cfg.Certs, cert), append(cfg.Keys, key)
		want[names] = Fingerprint(pair.TLS.Leaf.Raw)
	}
	s := loaded(t, cfg)
	list := s.Listing().Certificates
	gen := list[3].SHA256
	for name, fingerprint := range map[string]string{
		"a.test":      want["a.test both.test"],
		"A.TEST":      want["a.test both.test"],
		"b.test":      want["b.test *.wild.test"],
		"x.wild.test": want["b.test *.wild.test"],
		"both.test":   want["a.test both.test"], // first configured wins
		"gen.test":    gen,
		"other.test":  want["a.test both.test"],
		"":            want["a.test both.test"],
	} {
		e := shake(t, &tls.Config{ServerName: name, InsecureSkipVerify: true}, s.TLS())
		if !e.ok() || e.leaf() != fingerprint {
			t.Errorf("for %q: %v, %v, leaf %.8s, want %.8s", name, e.clientErr, e.serverErr, e.leaf(), fingerprint)
		}
	}
	if s.Unmatched() != 2 || l.count("no SNI certificate found") != 2 {
		t.Errorf("%d handshakes without a match, %d logged, want 2", s.Unmatched(), l.count("no SNI certificate found"))
	}
	if s.SHA256() != list[0].SHA256 || list[0].SHA256 != want["a.test both.test"] || list[1].SHA256 != want["b.test *.wild.test"] {
		t.Errorf("listing %+v is not in configuration order", list)
	}
}

func TestListingJSON(t *testing.T) {
	s := loaded(t, Config{Generate: []string{"relay.test"}})
	b, err := json.Marshal(s.Listing())
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Certificates []map[string]any `json:"certificates"`
	}
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	c := got.Certificates[0]
	from, err1 := time.Parse(time.RFC3339, c["notBefore"].(string))
	to, err2 := time.Parse(time.RFC3339, c["notAfter"].(string))
	if err1 != nil || err2 != nil || !from.Before(time.Now()) || !to.After(time.Now()) || c["sha256"] != s.SHA256() || c["current"] != true {
		t.Errorf("listing %s", b)
	}
}

// A certificate and its key are written one after the other while clients keep dialling.
func TestRotationOfAPair(t *testing.T) {
	ca, dir := testcert.NewCA(t, "ca"), t.TempDir()
	first, second := ca.Server(t, "relay.test"), ca.Server(t, "relay.test")
	cert, key := first.Write(t, dir, "relay")
	var l logs
	s, err := New(Config{Certs: []string{cert}, Keys: []string{key}, Log: l.logger(), Period: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	start(t, s)
	until(t, "watch", func() bool { return s.offer.get().pairs.Status().Watching })
	server, client := s.TLS(), &tls.Config{ServerName: "relay.test", RootCAs: ca.Pool()}
	dial := func() ends {
		t.Helper()
		e := shake(t, client, server)
		if !e.ok() {
			t.Fatalf("handshake: %v, %v", e.clientErr, e.serverErr)
		}
		return e
	}
	old := dial()
	write(t, cert, second.CertPEM)
	until(t, "refusal of half a pair", func() bool {
		return dial().leaf() == Fingerprint(first.TLS.Leaf.Raw) && l.count("failed to reload server certificates") > 0
	})
	write(t, key, second.KeyPEM)
	until(t, "new certificate", func() bool { return dial().leaf() == Fingerprint(second.TLS.Leaf.Raw) })
	old.echo(t)

	write(t, cert, []byte("-----BEGIN"))
	until(t, "refusal of a broken file", func() bool { return s.offer.get().pairs.Status().Err != nil })
	if got := dial().leaf(); got != Fingerprint(second.TLS.Leaf.Raw) {
		t.Errorf("leaf %.8s after a broken file, want the last good one", got)
	}
	if l.count("reloading server certificates") == 0 {
		t.Error("the reload was not logged")
	}
}

func TestGeneratedOutlivesReloads(t *testing.T) {
	s := loaded(t, Config{Generate: []string{"relay.test"}})
	before := s.SHA256()
	if err := s.Load(t.Context()); err != nil || s.SHA256() != before {
		t.Errorf("Load = %v; the generated certificate changed: %v", err, s.SHA256() != before)
	}
}

func TestWebLines(t *testing.T) {
	ca, dir := testcert.NewCA(t, "ca"), t.TempDir()
	cert, key := ca.Server(t, "a.test").Write(t, dir, "a")
	var l logs
	s := loaded(t, Config{Certs: []string{cert}, Keys: []string{key}, Web: true, Log: l.logger()})
	write(t, key, []byte("broken"))
	if err := s.Load(t.Context()); err == nil || l.count("reloading web certificate") != 1 {
		t.Errorf("Load = %v, log:\n%s", err, l.buf.String())
	}
}

func TestClientCertificates(t *testing.T) {
	ours, theirs, dir := testcert.NewCA(t, "ours"), testcert.NewCA(t, "theirs"), t.TempDir()
	roots := ours.Write(t, dir, "roots.pem")
	var l logs
	s, err := New(Config{Generate: []string{"relay.test"}, Roots: []string{roots}, Log: l.logger(), Period: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if e := shake(t, presenting(ours.Client(t, "edge")), s.TLS()); e.ok() {
		t.Error("a client certificate was taken before any root was read")
	}
	start(t, s)
	until(t, "watch", func() bool { return s.offer.get().roots.Status().Watching })
	server := s.TLS()
	for name, tc := range map[string]struct {
		client *tls.Config
		ok     bool
		chains int
	}{
		"none":     {&tls.Config{InsecureSkipVerify: true}, true, 0},
		"ours":     {presenting(ours.Client(t, "edge")), true, 1},
		"theirs":   {presenting(theirs.Client(t, "edge")), false, 0},
		"server's": {presenting(ours.Server(t, "edge")), false, 0},
		"expired":  {presenting(ours.Issue(t, testcert.Request{NotAfter: time.Now().Add(-time.Minute), Usage: x509.ExtKeyUsageClientAuth})), false, 0},
	} {
		e := shake(t, tc.client, server)
		if e.ok() != tc.ok || tc.ok && len(e.server.ConnectionState().VerifiedChains) != tc.chains {
			t.Errorf("%s: %v, %v, %d chains, want ok %v, %d", name, e.clientErr, e.serverErr, len(e.server.ConnectionState().VerifiedChains), tc.ok, tc.chains)
		}
	}

	write(t, roots, theirs.PEM())
	until(t, "new roots", func() bool { return shake(t, presenting(theirs.Client(t, "edge")), server).ok() })
	if shake(t, presenting(ours.Client(t, "edge")), server).ok() {
		t.Error("a root that was taken out still vouches")
	}
	write(t, roots, []byte("nothing"))
	until(t, "refusal", func() bool { return l.count("failed to reload TLS root certificates; retaining previous roots") > 0 })
	if !shake(t, presenting(theirs.Client(t, "edge")), server).ok() || l.count("reloaded TLS root certificates") != 1 {
		t.Errorf("after a broken file the last good roots are gone; log:\n%s", l.buf.String())
	}
}

func presenting(c *testcert.Cert) *tls.Config {
	// A client that filters by the server's list of authorities would send nothing; this one insists.
	return &tls.Config{InsecureSkipVerify: true, GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		return &c.TLS, nil
	}}
}

func TestResumptionOnlyWithoutRoots(t *testing.T) {
	ca, dir := testcert.NewCA(t, "ca"), t.TempDir()
	for name, tc := range map[string]struct {
		roots   []string
		resumed bool
	}{
		"without roots": {nil, true},
		"with roots":    {[]string{ca.Write(t, dir, "ca.pem")}, false},
	} {
		server := loaded(t, Config{Generate: []string{"relay.test"}, Roots: tc.roots}).TLS()
		client := &tls.Config{ServerName: "relay.test", InsecureSkipVerify: true, ClientSessionCache: tls.NewLRUClientSessionCache(1)}
		first := shake(t, client, server)
		second := shake(t, client, server)
		if !first.ok() || !second.ok() || second.client.ConnectionState().DidResume != tc.resumed {
			t.Errorf("%s: resumed %v, want %v", name, second.client.ConnectionState().DidResume, tc.resumed)
		}
	}
}

func TestRootsAreReadStrictly(t *testing.T) {
	ca, dir := testcert.NewCA(t, "ca"), t.TempDir()
	good := ca.PEM()
	for name, doc := range map[string][]byte{
		"empty":      nil,
		"no PEM":     []byte("hello"),
		"bad second": append(append([]byte{}, good...), []byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")...),
	} {
		path := filepath.Join(dir, "roots.pem")
		write(t, path, doc)
		s, err := New(Config{Generate: []string{"a"}, Roots: []string{path}})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Load(t.Context()); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: Load = %v, want an error that names the file", name, err)
		}
	}
}
