package demo

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestFreeAddrs(t *testing.T) {
	both, tcp, err := FreeAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, addr := range []string{both, tcp} {
		ln, err := net.Listen("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		ln.Close()
	}
	udp, err := net.ListenPacket("udp", both)
	if err != nil {
		t.Fatal(err)
	}
	udp.Close()
}

func TestAwaitReady(t *testing.T) {
	asked := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer srv.Close()
	if err := AwaitReady(t.Context(), srv.URL); err != nil || asked != 3 {
		t.Errorf("after %d requests %v, want ready after 3", asked, err)
	}
}

func TestAwaitReadyEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		cancel()
	}))
	defer srv.Close()
	if err := AwaitReady(ctx, srv.URL); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}
