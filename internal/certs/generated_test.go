package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"testing"
	"testing/synctest"
	"time"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

const day = 24 * time.Hour

func TestSelfSignedIsWhatBrowsersPin(t *testing.T) {
	cert, err := selfSigned([]string{"relay.test", "127.0.0.1", "::1", "relay.test"}, noon)
	if err != nil {
		t.Fatal(err)
	}
	leaf := cert.Leaf
	key, ok := leaf.PublicKey.(*ecdsa.PublicKey)
	if !ok || key.Curve != elliptic.P256() {
		t.Errorf("key %T, want ECDSA on P-256", leaf.PublicKey)
	}
	// Both ends count: RFC 5280, section 4.1.2.5.
	if whole := leaf.NotAfter.Sub(leaf.NotBefore) + time.Second; whole > 14*day {
		t.Errorf("valid for %v, want two weeks at most", whole)
	}
	if !leaf.NotBefore.Equal(noon.Add(-day)) || leaf.NotAfter.Before(noon.Add(13*day-time.Minute)) {
		t.Errorf("valid from %v to %v", leaf.NotBefore, leaf.NotAfter)
	}
	for _, name := range []string{"relay.test", "127.0.0.1", "::1"} {
		if err := leaf.VerifyHostname(name); err != nil {
			t.Error(err)
		}
	}
	if len(leaf.DNSNames) != 1 {
		t.Errorf("names %q, want each once", leaf.DNSNames)
	}
}

func TestGeneratedSchedule(t *testing.T) {
	g := generated{hosts: []string{"relay.test"}}
	for _, step := range []struct {
		at      time.Duration
		renewed bool
		listed  int
	}{
		{0, true, 1},
		{day, false, 1},
		{7*day - time.Second, false, 1},
		{7 * day, true, 2},
		{13*day - 2*time.Second, false, 2},
		{13*day - time.Second, false, 1}, // the first has ended
		{14 * day, true, 2},
		{60 * day, true, 1}, // after a long sleep nothing old is left
		{50 * day, false, 1},
	} {
		next, renewed, err := g.advance(noon.Add(step.at))
		if err != nil {
			t.Fatal(err)
		}
		if renewed != step.renewed || len(next.certs) != step.listed {
			t.Errorf("at %v: renewed %v, %d listed, want %v, %d", step.at, renewed, len(next.certs), step.renewed, step.listed)
		}
		if same := len(g.certs) > 0 && next.certs[0] == g.certs[0]; same == renewed {
			t.Errorf("at %v: renewed %v but the newest is the same: %v", step.at, renewed, same)
		}
		g = next
	}
}

func TestGeneratedNext(t *testing.T) {
	g := generated{hosts: []string{"relay.test"}}
	for _, step := range []struct{ at, next time.Duration }{
		{0, 7 * day},
		{7 * day, 13*day - time.Second},
		{13*day - time.Second, 14 * day},
	} {
		g, _, _ = g.advance(noon.Add(step.at))
		if got := g.next(); !got.Equal(noon.Add(step.next)) {
			t.Errorf("at %v the next step is due at %v, want %v", step.at, got.Sub(noon), step.next)
		}
	}
}

func TestGenerateRefusesBadNames(t *testing.T) {
	s, err := New(Config{Generate: []string{"bücher.test"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Load(t.Context()); err == nil {
		t.Error("a name that no certificate can hold was taken")
	}
}

func TestRenewalKeepsOldConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := New(Config{Generate: []string{"relay.test"}})
		if err != nil {
			t.Fatal(err)
		}
		start(t, s)
		first := s.SHA256()
		pinned := func(sha256 string) ends {
			return shake(t, loadedClient(t, ClientConfig{Fingerprints: []string{sha256}}).TLS(), s.TLS())
		}
		old := pinned(first)
		if !old.ok() {
			t.Fatalf("handshake: %v, %v", old.clientErr, old.serverErr)
		}

		time.Sleep(8 * day)
		second := s.SHA256()
		list := s.Listing().Certificates
		if first == second || len(list) != 2 || list[0].SHA256 != second || list[1].SHA256 != first {
			t.Fatalf("after eight days: %s, listed %+v, first was %s", second, list, first)
		}
		if !list[0].Current || list[1].Current {
			t.Errorf("current: %v and %v, want the newest alone", list[0].Current, list[1].Current)
		}
		if e := pinned(second); !e.ok() || e.leaf() != second {
			t.Errorf("handshake with the new pin: %v, %v", e.clientErr, e.serverErr)
		}
		if e := pinned(first); e.ok() {
			t.Error("the old certificate still answers handshakes")
		}
		old.echo(t)

		time.Sleep(5 * day)
		if list := s.Listing().Certificates; len(list) != 1 || list[0].SHA256 != second {
			t.Errorf("after thirteen days: listed %+v, want %s alone", list, second)
		}
	})
}
