package certs

import (
	"crypto/tls"
	"testing"

	"github.com/moqmesh/moqmesh/internal/testcert"
	"github.com/quic-go/quic-go"
)

// The same configuration serves QUIC, client certificates and rotation included.
func TestQUIC(t *testing.T) {
	ca, dir := testcert.NewCA(t, "ca"), t.TempDir()
	first, second := ca.Server(t, "relay.test"), ca.Server(t, "relay.test")
	certFile, keyFile := first.Write(t, dir, "relay")
	caFile := ca.Write(t, dir, "ca.pem")
	s := loaded(t, Config{Certs: []string{certFile}, Keys: []string{keyFile}, Roots: []string{caFile}})
	ln, err := quic.ListenAddr("127.0.0.1:0", s.TLS("test"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()

	clientCert, clientKey := ca.Client(t, "edge").Write(t, dir, "edge")
	c := loadedClient(t, ClientConfig{Roots: []string{caFile}, Cert: clientCert, Key: clientKey, HostName: "relay.test"})
	dial := func() (leaf string, server tls.ConnectionState) {
		t.Helper()
		conn, err := quic.DialAddr(t.Context(), ln.Addr().String(), c.TLS("test"), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.CloseWithError(0, "")
		accepted, err := ln.Accept(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return Fingerprint(conn.ConnectionState().TLS.PeerCertificates[0].Raw), accepted.ConnectionState().TLS
	}
	leaf, server := dial()
	if leaf != Fingerprint(first.TLS.Leaf.Raw) || len(server.VerifiedChains) != 1 {
		t.Errorf("leaf %.8s, %d chains, want the first certificate and a verified client", leaf, len(server.VerifiedChains))
	}
	write(t, certFile, second.CertPEM)
	if err := s.Load(t.Context()); err == nil {
		t.Error("half a pair was taken")
	}
	write(t, keyFile, second.KeyPEM)
	if err := s.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	if leaf, _ := dial(); leaf != Fingerprint(second.TLS.Leaf.Raw) {
		t.Errorf("leaf %.8s after rotation, want the second", leaf)
	}
}
