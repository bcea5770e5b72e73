package certs

import (
	"crypto/tls"
	"strings"
	"testing"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/moqmesh/moqmesh/internal/testcert"
)

// adopt puts another configuration in force.
func adopt(t *testing.T, s *Store, cfg Config) {
	t.Helper()
	commit, err := s.Prepare(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	commit()
}

// Other paths: what a client sees changes with the commit and not before, and the new files are followed.
func TestOtherFiles(t *testing.T) {
	ca, dir := testcert.NewCA(t, "ca"), t.TempDir()
	first, second, third := ca.Server(t, "relay.test"), ca.Server(t, "relay.test"), ca.Server(t, "relay.test")
	cert, key := first.Write(t, dir, "first")
	s, err := New(Config{Certs: []string{cert}, Keys: []string{key}, Period: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	start(t, s)
	server := s.TLS()
	leaf := func() string {
		t.Helper()
		return shake(t, &tls.Config{ServerName: "relay.test", RootCAs: ca.Pool()}, server).leaf()
	}
	cert, key = second.Write(t, dir, "second")
	commit, err := s.Prepare(t.Context(), Config{Certs: []string{cert}, Keys: []string{key}, Period: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if got := leaf(); got != Fingerprint(first.TLS.Leaf.Raw) {
		t.Errorf("leaf %.8s before the commit, want the first", got)
	}
	commit()
	if got := leaf(); got != Fingerprint(second.TLS.Leaf.Raw) || s.SHA256() != got {
		t.Errorf("leaf %.8s after the commit, fingerprint %.8s, want the second", got, s.SHA256())
	}
	until(t, "watch", func() bool { return s.offer.get().pairs.Status().Watching })
	third.Write(t, dir, "second")
	until(t, "rotation of the second", func() bool { return leaf() == Fingerprint(third.TLS.Leaf.Raw) })
}

// What cannot be read or does not fit leaves everything as it was.
func TestPrepareRefuses(t *testing.T) {
	ca, dir := testcert.NewCA(t, "ca"), t.TempDir()
	cert, key := ca.Server(t, "a.test").Write(t, dir, "a")
	_, other := ca.Server(t, "b.test").Write(t, dir, "b")
	s := loaded(t, Config{Certs: []string{cert}, Keys: []string{key}})
	before := s.SHA256()
	for name, tc := range map[string]struct {
		cfg  Config
		want string
	}{
		"nothing":         {Config{}, "neither"},
		"missing file":    {Config{Certs: []string{dir + "/none"}, Keys: []string{key}}, "none"},
		"key of another":  {Config{Certs: []string{cert}, Keys: []string{other}}, cert},
		"missing roots":   {Config{Certs: []string{cert}, Keys: []string{key}, Roots: []string{dir + "/ca"}}, "ca"},
		"impossible host": {Config{Generate: []string{"bücher.test"}}, "generate"},
	} {
		if _, err := s.Prepare(t.Context(), tc.cfg); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: Prepare = %v, want %q in it", name, err, tc.want)
		}
	}
	if s.SHA256() != before || len(s.Listing().Certificates) != 1 {
		t.Errorf("certificates %+v after refusals, want %s", s.Listing(), before)
	}
}

// Viewers were given the fingerprint of a generated certificate: a reload keeps it for the same hosts, and lists it
// for as long as it lasts for others.
func TestGeneratedOutlivesOtherFiles(t *testing.T) {
	ca, dir := testcert.NewCA(t, "ca"), t.TempDir()
	var l logs
	s := loaded(t, Config{Generate: []string{"relay.test"}, Log: l.logger()})
	first := s.SHA256()
	adopt(t, s, Config{Generate: []string{"relay.test"}, Roots: []string{ca.Write(t, dir, "ca.pem")}})
	if s.SHA256() != first {
		t.Error("the generated certificate changed with the roots")
	}
	adopt(t, s, Config{Generate: []string{"other.test"}})
	list := s.Listing().Certificates
	if len(list) != 2 || list[0].SHA256 == first || !list[0].Current || list[1].SHA256 != first || list[1].Current {
		t.Errorf("for other hosts: listed %+v, want a new one and %s", list, first)
	}
	if n := l.count("certificate generated"); n != 2 {
		t.Errorf("%d certificates logged, want 2", n)
	}
	cert, key := ca.Server(t, "a.test").Write(t, dir, "a")
	adopt(t, s, Config{Certs: []string{cert}, Keys: []string{key}})
	if list := s.Listing().Certificates; len(list) != 1 {
		t.Errorf("without hosts: listed %+v, want the file alone", list)
	}
}

// Roots that come later hold for clients that could resume before.
func TestRootsComeAndGo(t *testing.T) {
	ours, theirs, dir := testcert.NewCA(t, "ours"), testcert.NewCA(t, "theirs"), t.TempDir()
	s := loaded(t, Config{Generate: []string{"relay.test"}})
	server := s.TLS()
	client := &tls.Config{ServerName: "relay.test", InsecureSkipVerify: true, ClientSessionCache: tls.NewLRUClientSessionCache(1)}
	stranger := presenting(theirs.Client(t, "edge"))
	if !shake(t, client, server).ok() || !shake(t, stranger, server).ok() {
		t.Fatal("no handshake without roots")
	}
	adopt(t, s, Config{Generate: []string{"relay.test"}, Roots: []string{ours.Write(t, dir, "ca.pem")}})
	if e := shake(t, client, server); !e.ok() || e.client.ConnectionState().DidResume {
		t.Errorf("with roots: %v, %v, want a handshake that resumes nothing", e.clientErr, e.serverErr)
	}
	if shake(t, stranger, server).ok() {
		t.Error("the certificate of a stranger passed")
	}
	adopt(t, s, Config{Generate: []string{"relay.test"}})
	if !shake(t, stranger, server).ok() {
		t.Error("without roots a client was asked for a certificate")
	}
}

// QUIC sends its tickets by itself: with roots it sends none, however they came.
func TestNoTicketsOverQUICOnceThereAreRoots(t *testing.T) {
	ca, dir := testcert.NewCA(t, "ca"), t.TempDir()
	s := loaded(t, Config{Generate: []string{"relay.test"}})
	ln, err := quic.ListenAddr("127.0.0.1:0", s.TLS("test"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	client := &tls.Config{
		ServerName: "relay.test", InsecureSkipVerify: true, NextProtos: []string{"test"},
		ClientSessionCache: tls.NewLRUClientSessionCache(1),
	}
	resumed := func() bool {
		t.Helper()
		conn, err := quic.DialAddr(t.Context(), ln.Addr().String(), client, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.CloseWithError(0, "")
		accepted, err := ln.Accept(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		stream, err := accepted.OpenUniStream() // arrives after a ticket would have
		if err != nil {
			t.Fatal(err)
		}
		if err := stream.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.AcceptUniStream(t.Context()); err != nil {
			t.Fatal(err)
		}
		return conn.ConnectionState().TLS.DidResume
	}
	if first, second := resumed(), resumed(); first || !second {
		t.Fatal("the second connection without roots does not resume the first: the test proves nothing")
	}
	adopt(t, s, Config{Generate: []string{"relay.test"}, Roots: []string{ca.Write(t, dir, "ca.pem")}})
	if first, second := resumed(), resumed(); first || second {
		t.Error("resumed with roots")
	}
}

// Dials: whom to trust and what to present changes with the commit.
func TestClientOfOtherFiles(t *testing.T) {
	ca, other, dir := testcert.NewCA(t, "ca"), testcert.NewCA(t, "other"), t.TempDir()
	serverCert, serverKey := ca.Server(t, "relay.test").Write(t, dir, "relay")
	caFile := ca.Write(t, dir, "ca.pem")
	server := loaded(t, Config{Certs: []string{serverCert}, Keys: []string{serverKey}, Roots: []string{caFile}}).TLS()
	c, err := NewClient(ClientConfig{Roots: []string{other.Write(t, dir, "other.pem")}, HostName: "relay.test"})
	if err != nil {
		t.Fatal(err)
	}
	start(t, c)
	if shake(t, c.TLS(), server).ok() {
		t.Fatal("a server of an unknown authority was accepted")
	}
	for _, bad := range []ClientConfig{{SystemRoots: new(false)}, {Roots: []string{dir + "/none"}}} {
		if _, err := c.Prepare(t.Context(), bad); err == nil {
			t.Errorf("Prepare(%+v) succeeded", bad)
		}
	}
	cert, key := ca.Client(t, "edge").Write(t, dir, "edge")
	commit, err := c.Prepare(t.Context(), ClientConfig{Roots: []string{caFile}, Cert: cert, Key: key, HostName: "relay.test", Period: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if shake(t, c.TLS(), server).ok() {
		t.Error("trusted before the commit")
	}
	commit()
	if e := shake(t, c.TLS(), server); !e.ok() || len(e.server.ConnectionState().VerifiedChains) != 1 {
		t.Errorf("after the commit: %v, %v", e.clientErr, e.serverErr)
	}
	until(t, "watch", func() bool { return c.trust.get().roots.Status().Watching })
	write(t, caFile, other.PEM())
	until(t, "new roots", func() bool { return !shake(t, c.TLS(), server).ok() })
}
