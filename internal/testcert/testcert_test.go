package testcert_test

import (
	"crypto/tls"
	"crypto/x509"
	"testing"
	"time"

	"github.com/moqmesh/moqmesh/internal/testcert"
)

func TestServerVerifiesForItsNamesOnly(t *testing.T) {
	ca := testcert.NewCA(t, "test authority")
	leaf := ca.Server(t, "relay.test", "127.0.0.1").TLS.Leaf
	for name, want := range map[string]bool{"relay.test": true, "127.0.0.1": true, "other.test": false} {
		_, err := leaf.Verify(x509.VerifyOptions{DNSName: name, Roots: ca.Pool()})
		if (err == nil) != want {
			t.Errorf("Verify(%s) = %v, want success %v", name, err, want)
		}
	}
	if _, err := leaf.Verify(x509.VerifyOptions{Roots: testcert.NewCA(t, "other").Pool()}); err == nil {
		t.Error("another authority vouches for the certificate")
	}
}

func TestClientIsForClientsOnly(t *testing.T) {
	ca := testcert.NewCA(t, "test authority")
	leaf := ca.Client(t, "edge-1").TLS.Leaf
	for usage, want := range map[x509.ExtKeyUsage]bool{x509.ExtKeyUsageClientAuth: true, x509.ExtKeyUsageServerAuth: false} {
		_, err := leaf.Verify(x509.VerifyOptions{Roots: ca.Pool(), KeyUsages: []x509.ExtKeyUsage{usage}})
		if (err == nil) != want {
			t.Errorf("Verify(usage %d) = %v, want success %v", usage, err, want)
		}
	}
}

func TestIssueKeepsTheAskedEnd(t *testing.T) {
	end := time.Now().Add(2 * time.Second).Truncate(time.Second)
	leaf := testcert.NewCA(t, "a").Issue(t, testcert.Request{NotAfter: end}).TLS.Leaf
	if !leaf.NotAfter.Equal(end) {
		t.Errorf("NotAfter = %v, want %v", leaf.NotAfter, end)
	}
}

func TestWrittenPairLoads(t *testing.T) {
	ca := testcert.NewCA(t, "test authority")
	cert := ca.Server(t, "relay.test")
	certPath, keyPath := cert.Write(t, t.TempDir(), "relay")
	pair, err := tls.LoadX509KeyPair(certPath, keyPath)
	if err != nil {
		t.Fatal(err)
	}
	if !pair.Leaf.Equal(cert.TLS.Leaf) {
		t.Error("the file holds another certificate")
	}
}
