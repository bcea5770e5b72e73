package relay

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/moqmesh/moqmesh/internal/certs"
)

// webListener is an HTTP server and its socket.
type webListener struct {
	name string
	ln   *patientListener
	srv  *http.Server
	tls  *certs.Store // nil: plain
}

// listenHTTP opens a TCP socket for an HTTP server.
func listenHTTP(name, addr string, store *certs.Store, h http.Handler, headers time.Duration, log *slog.Logger) (*webListener, error) {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	w := &webListener{name: name, ln: newPatientListener(ln, name, log), tls: store, srv: &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headers,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    32 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}}
	return w, nil
}

// serve answers requests until ctx ends. Those under way then, and the sessions
// that came with them, have a moment to end.
func (w *webListener) serve(ctx context.Context) error {
	w.srv.BaseContext = func(net.Listener) context.Context { return ctx }
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		grace, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if w.srv.Shutdown(grace) != nil {
			w.srv.Close()
		}
	})
	ln := net.Listener(w.ln)
	if w.tls != nil {
		ln = tls.NewListener(ln, w.tls.TLS("h2", "http/1.1"))
	}
	err := w.srv.Serve(ln)
	if !stop() {
		<-stopped
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}
