package websocket

import (
	"bufio"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"

	"github.com/coder/websocket"

	"github.com/moqmesh/moqmesh/moq/transport/qmux"
)

// ErrNoSubprotocol says that the peers have no sub-protocol in common.
var ErrNoSubprotocol = errors.New("no supported subprotocol offered")

// AcceptOptions is how a server takes WebSockets.
type AcceptOptions struct {
	// ALPNs are the MoQ versions served, by ALPN, best first: the server's order wins.
	ALPNs []string
	// Origins are the host patterns (path.Match) that pages may come from; the
	// request's own host always may. Empty means any origin.
	Origins []string
	// Conn is the template of the connections. Version, Client and the addresses
	// are set by Accept.
	Conn qmux.Config
	// Logger hears of refused sub-protocols. Nil means nobody does.
	Logger *slog.Logger
}

// Accept upgrades a request and returns the connection, whose Run the caller
// runs. On an error the response has been written. A client that names only
// sub-protocols we lack gets 400 and ErrNoSubprotocol; one that names none gets
// the legacy framing. Authorise before.
func Accept(w http.ResponseWriter, r *http.Request, opts AcceptOptions) (*qmux.Conn, Negotiated, error) {
	chosen, err := choose(r, opts)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return nil, Negotiated{}, err
	}
	agreed, version, _ := parse(chosen) // ours, so it parses
	hijack := &hijacker{ResponseWriter: w}
	p := new(pipe)
	wsOpts := &websocket.AcceptOptions{
		InsecureSkipVerify: len(opts.Origins) == 0,
		OriginPatterns:     opts.Origins,
		OnPingReceived:     p.onPing,
		OnPongReceived:     p.onPong,
	}
	if chosen != "" {
		wsOpts.Subprotocols = []string{chosen}
	}
	ws, err := websocket.Accept(hijack, r, wsOpts)
	if err != nil {
		return nil, Negotiated{}, fmt.Errorf("upgrade to WebSocket: %w", err)
	}
	cfg := opts.Conn
	cfg.Version, cfg.Client = version, false
	cfg.LocalAddr, cfg.RemoteAddr = hijack.socket.LocalAddr(), hijack.socket.RemoteAddr()
	p.open(ws, hijack.socket, version)
	return qmux.New(p, cfg), agreed, nil
}

// choose picks the sub-protocol; empty if the client named none.
func choose(r *http.Request, opts AcceptOptions) (string, error) {
	offers := requested(r.Header)
	if len(offers) == 0 {
		return "", nil
	}
	chosen, ok := pick(acceptable(opts.ALPNs), offers)
	if ok {
		return chosen, nil
	}
	if opts.Logger != nil {
		opts.Logger.Warn("rejecting WebSocket upgrade: no supported subprotocol offered", "peer", r.RemoteAddr)
	}
	return "", ErrNoSubprotocol
}

// hijacker remembers the socket that the upgrade takes over.
type hijacker struct {
	http.ResponseWriter
	socket net.Conn
}

// Hijack implements [http.Hijacker].
func (h *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	socket, rw, err := http.NewResponseController(h.ResponseWriter).Hijack()
	h.socket = socket
	return socket, rw, err
}
