package session_test

import (
	"context"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"go.uber.org/goleak"

	"github.com/moqmesh/moqmesh/internal/certs"
	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/transport"
	"github.com/moqmesh/moqmesh/moq/wire"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server serves one origin over real QUIC and reports how each session ended.
type server struct {
	origin   *moq.Origin
	counters session.Counters
	addr     net.Addr
	ended    chan error
}

func serve(t *testing.T, limits session.Limits) *server {
	t.Helper()
	store, err := certs.New(certs.Config{Generate: []string{"localhost"}})
	if err == nil {
		err = store.Load(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l, err := transport.Listen(pc, transport.ListenConfig{ALPNs: transport.ALPNs(transport.Finished), TLS: store.TLS()})
	if err != nil {
		t.Fatal(err)
	}
	s := &server{origin: moq.NewOrigin(7, moq.NewCache(0)), addr: l.Addr(), ended: make(chan error, 16)}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.Serve(ctx, func(ctx context.Context, in *transport.Incoming) { s.ended <- s.run(ctx, in, limits) })
	}()
	t.Cleanup(func() { cancel(); <-done })
	return s
}

func (s *server) run(ctx context.Context, in *transport.Incoming, limits session.Limits) error {
	v, err := transport.VersionOf(in.ALPN)
	if err != nil {
		return err
	}
	hctx, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
	defer cancel()
	sess, err := session.Handshake(hctx, in.Conn, session.Config{
		Server: true, Version: v, Setup: lite.Setup{Hop: 7}, Counters: &s.counters, Limits: limits,
	})
	if err != nil {
		return err
	}
	return sess.Run(ctx, session.Access{Origin: s.origin})
}

// attacker is a bare QUIC connection that says what it likes.
func (s *server) attacker(t *testing.T, v lite.Version) *quic.Conn {
	t.Helper()
	conf := &tls.Config{InsecureSkipVerify: true, NextProtos: []string{v.ALPN()}}
	c, err := quic.DialAddr(t.Context(), s.addr.String(), conf, &quic.Config{EnableDatagrams: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.CloseWithError(0, "") })
	return c
}

func uni(t *testing.T, c *quic.Conn, text string) {
	t.Helper()
	s, err := c.OpenUniStream()
	if err != nil {
		t.Fatal(err)
	}
	s.Write(unhex(t, text))
	s.Close()
}

func bidi(t *testing.T, c *quic.Conn, text string) *quic.Stream {
	t.Helper()
	s, err := c.OpenStream()
	if err != nil {
		t.Fatal(err)
	}
	s.Write(unhex(t, text))
	return s
}

func unhex(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

const setup05 = "010401050109" // SETUP with hop 9

// TestViolationsEndTheSession: each input of moq-lite.md §16 that ends a session
// does, with its code.
func TestViolationsEndTheSession(t *testing.T) {
	// Announcements are answers to the server's own request, its first stream.
	announce := func(text string) func(*testing.T, *quic.Conn) {
		return func(t *testing.T, c *quic.Conn) {
			uni(t, c, setup05)
			s, err := c.AcceptStream(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			s.Write(unhex(t, text))
		}
	}
	for name, tt := range map[string]struct {
		v  lite.Version
		do func(*testing.T, *quic.Conn)
	}{
		"second setup":          {lite.V05, func(t *testing.T, c *quic.Conn) { uni(t, c, setup05); uni(t, c, setup05) }},
		"setup with a tail":     {lite.V05, func(t *testing.T, c *quic.Conn) { uni(t, c, "01050105010900") }},
		"setup of wrong length": {lite.V06, func(t *testing.T, c *quic.Conn) { uni(t, c, "010301050109") }},
		"setup over 64 KiB":     {lite.V06, func(t *testing.T, c *quic.Conn) { uni(t, c, "0180010001") }},
		"repeated parameter":    {lite.V05, func(t *testing.T, c *quic.Conn) { uni(t, c, "010702010101010101") }},
		"second goaway": {lite.V05, func(t *testing.T, c *quic.Conn) {
			uni(t, c, setup05)
			bidi(t, c, "050100")
			bidi(t, c, "050100")
		}},
		"announcement twice on 04":   {lite.V04, announceOld("06010161" + "0101" + "06010161" + "0101")},
		"announcement with a tail":   {lite.V05, announce("020900" + "0501016100" + "00")},
		"restart status 3":           {lite.V05, announce("020900" + "0403016100")},
		"unknown announce id":        {lite.V06, announce("020900" + "010105")},
		"announcement twice on 06":   {lite.V06, announce("020900" + "00050161000000" + "00050161000000")},
		"announcement of two hops 5": {lite.V06, announce("020900" + "0007016102050500" + "00")},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, session.Limits{})
			c := s.attacker(t, tt.v)
			tt.do(t, c)
			<-c.Context().Done()
			var app *quic.ApplicationError
			if err := context.Cause(c.Context()); !errors.As(err, &app) || app.ErrorCode != 3 {
				t.Errorf("closed with %v, want code 3", err)
			}
			<-s.ended
			if s.counters.Violations.Load() != 1 {
				t.Errorf("%d violations counted, want 1", s.counters.Violations.Load())
			}
		})
	}
}

func announceOld(text string) func(*testing.T, *quic.Conn) {
	return func(t *testing.T, c *quic.Conn) {
		s, err := c.AcceptStream(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		s.Write(unhex(t, text))
	}
}

// TestBadStreamsLeaveTheSession: what only a stream must pay for (§4, §16).
func TestBadStreamsLeaveTheSession(t *testing.T) {
	s := serve(t, session.Limits{Request: time.Second})
	c := s.attacker(t, lite.V05)
	uni(t, c, setup05)
	uni(t, c, "02")                             // unknown type
	uni(t, c, "00028f0100")                     // a group of no subscription
	uni(t, c, "0005")                           // a group header cut short
	if err := c.SendDatagram(nil); err != nil { // an empty datagram
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, text string
		code       uint64
	}{
		{"unknown type", "07", 0x1},
		{"type 0", "00", 0x1},
		{"trailing byte", "0605016101" + "7600", 0x1},
		{"message over the bound", "0284000001", 0x1},
		{"nobody announces it", "060401610176", 0x36},
		{"fetch of nothing", "030601610176" + "0000", 0x36},
		{"subscribe to nothing", "020a" + "00" + "0161" + "0176" + "0000000000", 0x36},
		{"cut short and never finished", "0240", 0x1},
	} {
		stream := bidi(t, c, tt.text)
		_, err := stream.Read(make([]byte, 1))
		var reset *quic.StreamError
		if !errors.As(err, &reset) || uint64(reset.ErrorCode) != wire.MapStreamCode(uint32(tt.code)) {
			t.Errorf("%s: %v, want reset %#x", tt.name, err, tt.code)
		}
	}
	// The session still serves.
	b := moq.NewBroadcast(s.origin.Cache(), nil)
	w, err := b.Create("v", moq.TrackInfo{Timescale: 1000, Priority: 5})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Finish()
	s.origin.Publish("a", b)
	answer, err := io.ReadAll(bidi(t, c, "060401610176"))
	if got := hex.EncodeToString(answer); err != nil || got != "0505000043e8" {
		t.Errorf("TRACK_INFO %s, %v", got, err)
	}
}

// TestSilentClient: a client that never says SETUP is let go in time (A7).
func TestSilentClient(t *testing.T) {
	s := serve(t, session.Limits{})
	c := s.attacker(t, lite.V05)
	<-c.Context().Done()
	var app *quic.ApplicationError
	if err := context.Cause(c.Context()); !errors.As(err, &app) || app.ErrorCode != 0x11 {
		t.Errorf("closed with %v, want code 0x11", err)
	}
	if err := <-s.ended; err == nil {
		t.Error("the handshake has succeeded")
	}
}

// TestFloods: announcements and requests over the limits are refused and counted.
func TestFloods(t *testing.T) {
	s := serve(t, session.Limits{Announcements: 3, Subscriptions: 2, Requests: 2})
	c := s.attacker(t, lite.V05)
	uni(t, c, setup05)
	for range 4 {
		bidi(t, c, "01020000") // announce requests stay open
	}
	_, err := bidi(t, c, "01020000").Read(make([]byte, 1))
	var reset *quic.StreamError
	if !errors.As(err, &reset) || uint64(reset.ErrorCode) != wire.MapStreamCode(0x30) {
		t.Errorf("a request too many: %v, want reset 0x30", err)
	}
	announces, err := c.AcceptStream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	announces.Write(unhex(t, "020900"+"0401016100"+"0401016200"+"0401016300"+"0401016400"))
	<-c.Context().Done()
	if n := s.counters.Limited.Load(); n != 2 {
		t.Errorf("%d refusals counted, want 2", n)
	}
	<-s.ended
}
