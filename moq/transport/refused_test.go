package transport

import (
	"crypto/tls"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"github.com/moqmesh/moqmesh/internal/simlink"
	"github.com/moqmesh/moqmesh/internal/testcert"
)

// TestRefusedConnectIsTyped: a dialler learns with which status the server turned
// the WebTransport session down.
func TestRefusedConnectIsTyped(t *testing.T) {
	for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusTooManyRequests} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := simlink.New(t, 7)
				server := &http3.Server{
					Handler:         http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }),
					TLSConfig:       http3.ConfigureTLSConfig(&tls.Config{Certificates: []tls.Certificate{testcert.NewCA(t, "ca").Server(t, "localhost").TLS}}),
					QUICConfig:      &quic.Config{EnableDatagrams: true},
					EnableDatagrams: true,
				}
				done := make(chan struct{})
				pc := n.Host("10.0.0.1:443", simlink.Line{})
				go func() {
					defer close(done)
					server.Serve(pc)
				}()
				_, err := Dial(t.Context(), "https://10.0.0.1/", from(n.Host("10.0.0.2:1", simlink.Line{})))
				var refused *StatusError
				if !errors.As(err, &refused) || refused.Status != status {
					t.Errorf("dial: %v, want status %d", err, status)
				}
				server.Close()
				pc.Close()
				<-done
				time.Sleep(5 * time.Second)
			})
		})
	}
}
