package session

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"

	"github.com/moqmesh/moqmesh/cluster/route"
	"github.com/moqmesh/moqmesh/moq/wire"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// RandomID draws a hop id below 2^53, which every peer can read.
func RandomID() uint64 { return 1 + rand.Uint64N(1<<53-1) }

// Handshake says who we are and, on the accepting side, learns who the peer is.
// It waits for the peer as long as ctx lets it; the caller bounds that. On an
// error it has closed conn.
func Handshake(ctx context.Context, conn Conn, cfg Config) (*Session, error) {
	s := newSession(conn, cfg)
	err := ready(ctx, conn)
	if err == nil {
		err = s.handshake(ctx)
	}
	if err != nil {
		err = reasonOf(ctx, conn, err)
		s.countTimeout(err)
		s.fail(err)
		return nil, err
	}
	return s, nil
}

// reasonOf says why a handshake failed, where a stream noticed no more than that it
// did: the connection has been closed, or ctx has ended.
func reasonOf(ctx context.Context, conn Conn, err error) error {
	var closed *CloseError
	switch {
	case errors.As(context.Cause(conn.Context()), &closed):
		return closed
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return err
}

// ready waits for a transport that has no credit before the peer's first message.
func ready(ctx context.Context, conn Conn) error {
	if c, ok := conn.(interface{ Ready(context.Context) error }); ok {
		return c.Ready(ctx)
	}
	return nil
}

func newSession(conn Conn, cfg Config) *Session {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Counters == nil {
		cfg.Counters = new(Counters)
	}
	if cfg.AssignedID == 0 {
		cfg.AssignedID = RandomID()
	}
	if cfg.Legacy == nil {
		cfg.Legacy = []lite.Version{lite.V02, lite.V01}
	}
	cfg.Limits = cfg.Limits.withDefaults()
	s := &Session{
		conn: conn, cfg: cfg, v: cfg.Version, log: cfg.Log,
		setupc:     make(chan struct{}),
		subscribed: make(map[uint64]*subscribed),
		served:     make(map[uint64]struct{}),
	}
	s.link.told = route.Link{ID: cfg.AssignedID, Own: price(cfg.LinkCost)}
	s.sender = newSender(s)
	return s
}

func (s *Session) handshake(ctx context.Context) error {
	switch {
	case s.v == 0 && s.cfg.Server:
		return s.answerLegacy(ctx)
	case s.v == 0:
		return s.offerLegacy(ctx)
	case !s.v.HasSetup():
		s.setPeer(lite.Setup{})
		return nil
	}
	if err := s.sendSetup(); err != nil {
		return fmt.Errorf("send setup: %w", err)
	}
	if !s.cfg.Server {
		return nil
	}
	return s.awaitSetup(ctx)
}

func (s *Session) setPeer(p lite.Setup) (first bool) {
	s.setupOnce.Do(func() {
		s.peer = p
		close(s.setupc)
		first = true
	})
	return first
}

func (s *Session) sendSetup() error {
	stream, err := s.conn.OpenUniStream()
	if err != nil {
		return err
	}
	b := s.cfg.Setup.Append(lite.StreamSetup.Append(nil, s.v), s.v)
	s.cfg.Counters.Control.Sent[ClassSession].Add(uint64(len(b)))
	stream.SetPriority(controlUrgency)
	if _, err := stream.Write(b); err != nil {
		return err
	}
	return stream.Close()
}

// awaitSetup takes the client's SETUP. Until it is here any other
// unidirectional stream is stopped (§4).
func (s *Session) awaitSetup(ctx context.Context) error {
	for {
		stream, err := s.conn.AcceptUniStream(ctx)
		if err != nil {
			return fmt.Errorf("await setup: %w", err)
		}
		stop := context.AfterFunc(ctx, func() { stream.Stop(StreamCancelled) })
		got, err := s.readSetup(stream)
		stop()
		if got || err != nil {
			return err
		}
	}
}

// readSetup reads a unidirectional stream that may hold the peer's SETUP.
func (s *Session) readSetup(stream ReceiveStream) (got bool, err error) {
	r := bufio.NewReaderSize(stream, 512)
	t, err := s.v.Encoding().ReadVarint(r)
	if err != nil || lite.UniStream(t) != lite.StreamSetup {
		stream.Stop(StreamCancelled)
		s.cfg.Counters.StreamsRefused.Add(1)
		return false, nil
	}
	return true, s.takeSetup(r)
}

// takeSetup reads the body of a SETUP stream. A second or malformed one ends
// the session.
func (s *Session) takeSetup(r *bufio.Reader) error {
	body, err := wire.ReadMessage(r, s.v.Encoding(), lite.MaxSetup, nil)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		s.countTimeout(err)
		return fmt.Errorf("read setup: %w", err)
	}
	if err != nil {
		return violated(fmt.Errorf("read setup: %w", err))
	}
	s.cfg.Counters.Control.Received[ClassSession].Add(uint64(len(body) + 2))
	setup, err := lite.DecodeSetup(body, s.v)
	if err != nil {
		return violated(err)
	}
	if !s.cfg.Server && (setup.Path != "" || setup.Role != lite.RoleBoth) {
		return violated(fmt.Errorf("setup of a server names a path or role"))
	}
	if !s.setPeer(setup) {
		return violated(fmt.Errorf("second setup"))
	}
	return nil
}

// offerLegacy is the client's side of the SETUP negotiation of 01 and 02 (§2.5).
func (s *Session) offerLegacy(ctx context.Context) error {
	stream, err := s.conn.OpenStream(ctx)
	if err != nil {
		return fmt.Errorf("open setup stream: %w", err)
	}
	var offer lite.ClientSetup
	for _, v := range s.cfg.Legacy {
		offer.Versions = append(offer.Versions, v.Code())
	}
	if s.cfg.Setup.Path != "" {
		offer.Parameters = append(offer.Parameters, lite.Parameter{ID: lite.ParamPath, Bytes: []byte(s.cfg.Setup.Path)})
	}
	if _, err := stream.Write(offer.Append(nil)); err != nil {
		return fmt.Errorf("send setup: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { stream.Stop(StreamCancelled) })
	defer stop()
	answer, err := lite.ReadServerSetup(byteReader(stream))
	if err != nil {
		return fmt.Errorf("read setup: %w", err)
	}
	return s.settleLegacy(stream, answer.Version)
}

// answerLegacy is the server's side.
func (s *Session) answerLegacy(ctx context.Context) error {
	stream, err := s.conn.AcceptStream(ctx)
	if err != nil {
		return fmt.Errorf("await setup: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { stream.Stop(StreamCancelled) })
	defer stop()
	offer, err := lite.ReadClientSetup(byteReader(stream))
	if err != nil {
		return violated(fmt.Errorf("read setup: %w", err))
	}
	for _, p := range offer.Parameters {
		if p.ID == lite.ParamPath {
			s.peer.Path = string(p.Bytes)
		}
	}
	for _, code := range offer.Versions {
		if slices.ContainsFunc(s.cfg.Legacy, func(v lite.Version) bool { return v.Code() == code }) {
			if _, err := stream.Write(lite.ServerSetup{Version: code}.Append(nil)); err != nil {
				return fmt.Errorf("send setup: %w", err)
			}
			return s.settleLegacy(stream, code)
		}
	}
	return &violation{CodeVersion, fmt.Errorf("no common version among %#x", offer.Versions)}
}

func (s *Session) settleLegacy(stream Stream, code uint64) error {
	for _, v := range s.cfg.Legacy {
		if v.Code() == code {
			s.v, s.legacy = v, stream
			s.setPeer(s.peer)
			return nil
		}
	}
	return &violation{CodeVersion, fmt.Errorf("version %#x was not offered", code)}
}

// watchLegacy ends the session with its SETUP stream, and skips SESSION_INFO.
func (s *Session) watchLegacy(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() { s.legacy.Stop(StreamCancelled) })()
	_, err := io.Copy(io.Discard, s.legacy)
	if err == nil || ctx.Err() != nil {
		s.conn.Close(CodeNoError, "")
		return nil
	}
	return fmt.Errorf("session stream: %w", err)
}

// byteReader reads a stream without taking more from it than is asked for.
func byteReader(r io.Reader) wire.ByteReader { return &singleReader{Reader: r} }

type singleReader struct {
	io.Reader
	b [1]byte
}

func (r *singleReader) ReadByte() (byte, error) {
	_, err := io.ReadFull(r.Reader, r.b[:])
	return r.b[0], err
}
