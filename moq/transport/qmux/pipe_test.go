package qmux

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/moqmesh/moqmesh/moq/session"
	wire "github.com/moqmesh/moqmesh/moq/wire/qmux"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errPipeClosed = errors.New("pipe closed")

// fakePipe is one end of a channel in memory. A few messages fit; then writers
// wait, as on a socket whose other end does not read.
type fakePipe struct {
	in        <-chan []byte
	out       chan<- []byte
	closed    chan struct{}
	peer      *fakePipe
	closeOnce sync.Once
}

func newPipes() (a, b *fakePipe) {
	ab, ba := make(chan []byte, 4), make(chan []byte, 4)
	a = &fakePipe{in: ba, out: ab, closed: make(chan struct{})}
	b = &fakePipe{in: ab, out: ba, closed: make(chan struct{})}
	a.peer, b.peer = b, a
	return a, b
}

func (p *fakePipe) ReadMessage() ([]byte, error) {
	select {
	case m := <-p.in:
		return m, nil
	default:
	}
	select {
	case m := <-p.in:
		return m, nil
	case <-p.closed:
		return nil, errPipeClosed
	case <-p.peer.closed:
		select {
		case m := <-p.in:
			return m, nil
		default:
			return nil, io.EOF
		}
	}
}

func (p *fakePipe) WriteMessage(m []byte) error {
	select {
	case p.out <- bytes.Clone(m):
		return nil
	case <-p.closed:
		return errPipeClosed
	case <-p.peer.closed:
		return errPipeClosed
	}
}

func (p *fakePipe) Close(error) error {
	p.closeOnce.Do(func() { close(p.closed) })
	return nil
}

// start runs c until the test ends.
func start(t testing.TB, c *Conn) {
	t.Helper()
	var wg sync.WaitGroup
	wg.Go(func() { _ = c.Run(context.Background()) })
	t.Cleanup(func() {
		c.Close(session.CodeNoError, "test over")
		wg.Wait()
	})
}

// newPair returns two running connections to each other, ready to use.
func newPair(t testing.TB, client, server Config) (a, b *Conn) {
	t.Helper()
	client.Client = true
	pa, pb := newPipes()
	a, b = New(pa, client), New(pb, server)
	start(t, a)
	start(t, b)
	for _, c := range []*Conn{a, b} {
		if err := c.Ready(t.Context()); err != nil {
			t.Fatalf("Ready: %v", err)
		}
	}
	return a, b
}

// rawPeer is the other end of a Conn, played by the test frame by frame.
type rawPeer struct {
	t    testing.TB
	v    wire.Version
	pipe *fakePipe
}

// newRaw returns a running server connection and its raw client.
func newRaw(t testing.TB, cfg Config) (*Conn, *rawPeer) {
	t.Helper()
	pa, pb := newPipes()
	c := New(pb, cfg)
	start(t, c)
	return c, &rawPeer{t, cfg.Version, pa}
}

var generous = wire.Parameters{
	MaxData:                 1 << 30,
	MaxStreamDataBidiLocal:  1 << 30,
	MaxStreamDataBidiRemote: 1 << 30,
	MaxStreamDataUni:        1 << 30,
	MaxStreamsBidi:          1000,
	MaxStreamsUni:           1000,
	MaxDatagramFrame:        wire.MaxRecord,
}

// greet exchanges parameters.
func (p *rawPeer) greet(params wire.Parameters) {
	p.t.Helper()
	p.send(params)
	p.expect(wire.TypeParameters)
}

type appender interface {
	Append(b []byte, v wire.Version) []byte
}

// send sends a message of these frames.
func (p *rawPeer) send(frames ...appender) {
	p.t.Helper()
	var b []byte
	for _, f := range frames {
		b = f.Append(b, p.v)
	}
	p.sendBytes(b)
}

func (p *rawPeer) sendBytes(b []byte) {
	p.t.Helper()
	if err := p.pipe.WriteMessage(b); err != nil {
		p.t.Fatalf("send %x: %v", b, err)
	}
}

// expect reads frames until one of the type comes, and returns it.
func (p *rawPeer) expect(want wire.Type) any {
	p.t.Helper()
	for {
		for _, f := range p.frames() {
			if f.typ == want {
				return f.value
			}
		}
	}
}

type typedFrame struct {
	typ   wire.Type
	value any
}

// frames reads one message.
func (p *rawPeer) frames() (frames []typedFrame) {
	p.t.Helper()
	m, err := p.pipe.ReadMessage()
	if err != nil {
		p.t.Fatalf("read: %v", err)
	}
	r := wire.NewReader(p.v, m)
	for {
		typ, err := r.Next()
		if err == io.EOF {
			return frames
		}
		if err != nil {
			p.t.Fatalf("decode %x: %v", m, err)
		}
		v, err := decode(&r, typ)
		if err != nil {
			p.t.Fatalf("decode %x: %v", m, err)
		}
		frames = append(frames, typedFrame{typ, v})
	}
}

func decode(r *wire.Reader, typ wire.Type) (any, error) {
	switch typ {
	case wire.TypeStream:
		return r.Stream()
	case wire.TypeResetStream:
		return r.ResetStream()
	case wire.TypeStopSending:
		return r.StopSending()
	case wire.TypeMaxData:
		return r.MaxData()
	case wire.TypeMaxStreamData:
		return r.MaxStreamData()
	case wire.TypeMaxStreamsBidi, wire.TypeMaxStreamsUni:
		return r.MaxStreams()
	case wire.TypeConnectionClose, wire.TypeApplicationClose:
		return r.Close()
	case wire.TypeDatagram:
		return r.Datagram()
	case wire.TypePingRequest, wire.TypePingResponse:
		return r.Ping()
	}
	return r.Parameters()
}
