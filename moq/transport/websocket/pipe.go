package websocket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/moqmesh/moqmesh/moq/transport/qmux"
	wire "github.com/moqmesh/moqmesh/moq/wire/qmux"
)

const (
	// pingInterval is the time between two WebSocket pings.
	pingInterval = 5 * time.Second
	// silence is how long a peer may send no frame at all, pongs included.
	silence = 30 * time.Second
	// closeTime is how long the closing handshake may take.
	closeTime = time.Second
	// maxLegacyMessage bounds a message of the legacy framing, in bytes, which
	// knows no bound of its own.
	maxLegacyMessage = 1 << 20
	// maxMessage bounds every other message: a record, or a qmux-00 frame, and
	// then some for senders that count without the header.
	maxMessage = wire.MaxRecord + 1024
)

// ErrSilent says that the peer sent no frame for 30 s.
var ErrSilent = fmt.Errorf("no WebSocket frame for 30 s: %w", qmux.ErrIdle)

// pipe is a qmux.Pipe over a WebSocket: a binary message each.
type pipe struct {
	ws     *websocket.Conn
	socket net.Conn // below ws: its deadline is the silence, closing it unblocks all
	buf    []byte
	// writing is true while a message is on its way into the socket, perhaps
	// for long. Then the reader must not try to write a pong: ws gives it 5 s,
	// then gives up the connection. The message is a sign of life as well.
	writing atomic.Bool
}

var _ qmux.Pipe = (*pipe)(nil)

// open completes the pipe when the handshake is over.
func (p *pipe) open(ws *websocket.Conn, socket net.Conn, v wire.Version) {
	p.ws, p.socket = ws, socket
	if v == wire.Legacy {
		ws.SetReadLimit(maxLegacyMessage)
	} else {
		ws.SetReadLimit(maxMessage)
	}
	p.heard()
}

// onPing and onPong are called by ws when the reader takes in such a frame.
// onPing decides whether a pong goes out.
func (p *pipe) onPing(context.Context, []byte) bool {
	p.heard()
	return !p.writing.Load()
}

func (p *pipe) onPong(context.Context, []byte) { p.heard() }

// heard starts the silence anew. An error means that the socket is closed,
// which the read reports.
func (p *pipe) heard() { _ = p.socket.SetReadDeadline(time.Now().Add(silence)) }

// ReadMessage returns the next binary message. Text messages are ignored.
func (p *pipe) ReadMessage() ([]byte, error) {
	for {
		// Without a context: the socket's deadline and Close end the read.
		typ, r, err := p.ws.Reader(context.Background())
		if err != nil {
			return nil, readError(err)
		}
		if p.buf, err = readAll(r, p.buf[:0]); err != nil {
			return nil, readError(err)
		}
		p.heard()
		quickAck(p.socket)
		if typ == websocket.MessageBinary {
			return p.buf, nil
		}
	}
}

func readError(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return ErrSilent
	}
	return closeErrorOf(err)
}

// readAll is io.ReadAll into a buffer that is used again. It allocates for what
// arrived, not for what a frame header claims.
func readAll(r io.Reader, b []byte) ([]byte, error) {
	for {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err == io.EOF {
			return b, nil
		}
		if err != nil {
			return b, err
		}
	}
}

// WriteMessage sends p as one binary message.
func (p *pipe) WriteMessage(b []byte) error {
	p.writing.Store(true)
	defer p.writing.Store(false)
	return p.ws.Write(context.Background(), websocket.MessageBinary, b)
}

// Run pings until ctx ends. Whether the peer lives is for the silence to say.
func (p *pipe) Run(ctx context.Context) {
	ticker := time.NewTicker(pingInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if !p.writing.Load() {
				p.ping(ctx)
			}
		}
	}
}

// ping sends a ping and waits for the pong, which the reader takes in, or for
// the next tick. An error means that neither came or that the socket is gone.
func (p *pipe) ping(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, pingInterval)
	defer cancel()
	_ = p.ws.Ping(ctx)
}

// Close says why in a close frame and waits for the peer's, within closeTime.
func (p *pipe) Close(cause error) error {
	timer := time.AfterFunc(closeTime, func() { _ = p.socket.Close() })
	defer timer.Stop()
	status, reason, ok := statusOf(cause)
	if !ok {
		_ = p.socket.Close()
		return p.ws.CloseNow()
	}
	if err := p.ws.Close(status, reason); err != nil {
		return fmt.Errorf("close WebSocket: %w", err)
	}
	return nil
}
