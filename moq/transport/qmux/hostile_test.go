package qmux

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/moqmesh/moqmesh/moq/session"
	wire "github.com/moqmesh/moqmesh/moq/wire/qmux"
)

// raw is a frame given as bytes.
type raw []byte

func (r raw) Append(b []byte, _ wire.Version) []byte { return append(b, r...) }

// Each of these frames, sent by a client after the greeting, ends the connection.
func TestViolations(t *testing.T) {
	const records, all = 1, 2 // which versions have the frames
	big := make([]byte, 1500)
	tests := []struct {
		name   string
		in     int
		frames []appender
		want   Violation
	}{
		{"unknown type", all, []appender{raw{0x3f}}, Malformed},
		{"cut", all, []appender{raw{0x0e, 2, 0}}, Malformed},
		{"length beyond the message", all, []appender{raw{0x0e, 2, 0, 9, 1}}, Malformed},
		{"connection window", all, []appender{wire.Stream{ID: 2, Data: big}}, FlowControl},
		{"stream window", records, []appender{wire.Stream{ID: 2, Data: big[:600]}}, FlowControl},
		{"window in pieces", records, []appender{wire.Stream{ID: 2, Data: big[:400]}, wire.Stream{ID: 6, Data: big[:400]}, wire.Stream{ID: 10, Data: big[:400]}}, FlowControl},
		{"final size above the window", records, []appender{wire.Stream{ID: 2}, wire.ResetStream{ID: 2, FinalSize: 1<<62 - 1}}, FlowControl},
		{"too many streams", all, []appender{wire.Stream{ID: 2 + 100<<2}}, StreamLimit},
		{"stream far away", all, []appender{wire.Stream{ID: 1<<62 - 2}}, StreamLimit},
		{"stop on a stream far away", all, []appender{wire.StopSending{ID: 1<<62 - 4}}, StreamLimit},
		{"data on our stream", all, []appender{wire.Stream{ID: 3}}, StreamState},
		{"reset of our stream", all, []appender{wire.ResetStream{ID: 3}}, StreamState},
		{"bidi we never opened", all, []appender{wire.Stream{ID: 1}}, StreamState},
		{"stop of a stream we never opened", all, []appender{wire.StopSending{ID: 3}}, StreamState},
		{"stop of the peer's own stream", all, []appender{wire.StopSending{ID: 2}}, StreamState},
		{"credit for the peer's own stream", all, []appender{wire.MaxStreamData{ID: 2, Max: 1}}, StreamState},
		{"data after FIN", records, []appender{wire.Stream{ID: 2, Fin: true}, wire.Stream{ID: 2, Data: big[:1]}}, StreamState},
		{"MAX_STREAMS above all", all, []appender{wire.MaxStreams{Max: 1<<60 + 1}}, StreamLimit},
		{"reset at", records, []appender{raw{0x24, 2, 0, 0, 0}}, StreamState},
	}
	for _, tt := range tests {
		versions := []wire.Version{wire.V01, wire.V02}
		if tt.in == all {
			versions = append(versions, wire.V00)
		}
		for _, v := range versions {
			if tt.name == "reset at" && v == wire.V01 {
				continue // an unknown type there
			}
			t.Run(tt.name+"/"+v.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c, peer := newRaw(t, Config{Version: v, ConnWindow: 1000, StreamWindow: 500})
					peer.greet(generous)
					peer.send(tt.frames...)
					expectViolation(t, c, peer, tt.want)
				})
			})
		}
	}
}

func expectViolation(t *testing.T, c *Conn, peer *rawPeer, want Violation) {
	t.Helper()
	if got := peer.expect(wire.TypeConnectionClose).(wire.Close); got.Code != codeViolation {
		t.Errorf("close frame %+v, want code %d", got, codeViolation)
	}
	var ve *ViolationError
	if cause := context.Cause(c.Context()); !errors.As(cause, &ve) || ve.Violation != want {
		t.Errorf("ended with %v, want %s", cause, want)
	}
}

// "On 02 it must be first and only once." (§2.6.4)
func TestParameterRules(t *testing.T) {
	small := generous
	small.MaxRecord = 1000
	named := generous
	named.ApplicationProtocols = []string{"moq-lite-05"}
	many := generous
	many.MaxStreamsUni = 1<<60 + 1
	tests := []struct {
		name     string
		frames   []appender
		bad01    bool // a breach on 01 as well
		wantKind Violation
	}{
		{"second in 02", []appender{generous, generous}, false, BadParameters},
		{"not first in 02", []appender{wire.MaxData{Max: 1}, generous}, false, BadParameters},
		{"small records", []appender{small}, true, BadParameters},
		{"protocols", []appender{named}, true, BadParameters},
		{"too many streams", []appender{many}, true, BadParameters},
		{"unasked pong in 02", []appender{generous, wire.Ping{Response: true, Sequence: 9}}, false, BadPing},
		{"ping not rising in 02", []appender{generous, wire.Ping{Sequence: 9}, wire.Ping{Sequence: 9}}, false, BadPing},
	}
	for _, tt := range tests {
		for _, v := range []wire.Version{wire.V01, wire.V02} {
			t.Run(tt.name+"/"+v.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c, peer := newRaw(t, Config{Version: v})
					peer.send(tt.frames...)
					if v == wire.V02 || tt.bad01 {
						expectViolation(t, c, peer, tt.wantKind)
						return
					}
					synctest.Wait()
					if err := context.Cause(c.Context()); err != nil {
						t.Errorf("ended with %v", err)
					}
				})
			})
		}
	}
}

func TestLegacyOverrun(t *testing.T) {
	tests := []struct {
		name   string
		frames []wire.Stream
	}{
		{"data", []wire.Stream{{ID: 2, Data: make([]byte, 600)}, {ID: 6, Data: make([]byte, 600)}}},
		{"streams", []wire.Stream{{ID: 10 << 2}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, peer := newRaw(t, Config{Version: wire.Legacy, ConnWindow: 1000, MaxStreams: 10})
				for _, f := range tt.frames {
					peer.send(f)
				}
				expectViolation(t, c, peer, Overrun)
			})
		})
	}
}

func TestConnectionCloseFromPeer(t *testing.T) {
	inBubbles(t, versions, func(t *testing.T, cfg Config) {
		c, peer := newRaw(t, cfg)
		if cfg.Version != wire.Legacy {
			peer.greet(generous)
		}
		peer.send(wire.Close{Code: 1002, Reason: "bad"})
		<-c.Context().Done()
		var re *RemoteError
		if cause := context.Cause(c.Context()); !errors.As(cause, &re) || re.Code != 1002 || re.Reason != "bad" {
			t.Errorf("ended with %v", cause)
		}
	})
}

// Frames for streams that are over are ignored; their bytes are credited.
func TestFramesForFinishedStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peer := newRaw(t, Config{Version: wire.V02, ConnWindow: 1000})
		peer.greet(generous)
		peer.send(wire.Stream{ID: 2})
		r := must[session.ReceiveStream](t)(c.AcceptUniStream(t.Context()))
		r.Stop(session.StreamCancelled)
		if got := peer.expect(wire.TypeStopSending).(wire.StopSending); got != (wire.StopSending{ID: 2, Code: 1}) {
			t.Errorf("stop = %+v", got)
		}
		for range 20 { // each more than half the window
			peer.send(wire.Stream{ID: 2, Data: make([]byte, 600)})
			peer.expect(wire.TypeMaxData)
		}
		peer.send(wire.ResetStream{ID: 2}, wire.ResetStream{ID: 2}, wire.Stream{ID: 2, Fin: true})
		synctest.Wait()
		if err := context.Cause(c.Context()); err != nil {
			t.Errorf("ended with %v", err)
		}
	})
}

// A code that MoQ does not have is a cancel.
func TestHugeStreamCode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, peer := newRaw(t, Config{Version: wire.V01})
		peer.greet(generous)
		peer.send(wire.ResetStream{ID: 2, Code: 1 << 40})
		r := must[session.ReceiveStream](t)(c.AcceptUniStream(t.Context()))
		var se *session.StreamError
		if _, err := r.Read(make([]byte, 1)); !errors.As(err, &se) || se.Coded || se.Code != session.StreamCancelled {
			t.Errorf("Read = %#v", err)
		}
	})
}

// FuzzReceive feeds a connection anything: it ends or goes on, within bounds.
func FuzzReceive(f *testing.F) {
	for _, v := range versions {
		b := wire.Stream{ID: 2, Data: []byte("abc")}.Append(nil, v)
		f.Add(byte(v), b, wire.StopSending{ID: 0, Code: 1}.Append(nil, v))
		f.Add(byte(v), generous.Append(nil, v), wire.ResetStream{ID: 2, Code: 1, FinalSize: 3}.Append(nil, v))
	}
	f.Fuzz(func(t *testing.T, version byte, first, second []byte) {
		pa, _ := newPipes()
		c := New(pa, Config{Version: wire.Version(version % 4), ConnWindow: 4000, MaxStreams: 8})
		for range 3 {
			c.receive(first)
			c.receive(second)
			for {
				message, over := c.nextMessage(nil)
				if len(message) == 0 || over {
					break
				}
			}
		}
		held := 0
		for _, s := range c.recvs {
			held += s.unread()
		}
		if held > c.cfg.ConnWindow || len(c.recvs) > c.cfg.MaxStreams+c.cfg.MaxUniStreams {
			t.Errorf("holds %d bytes on %d streams", held, len(c.recvs))
		}
	})
}
