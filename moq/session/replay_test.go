package session_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// recording is one session, or several at one relay, of another implementation.
type recording struct {
	Version, Scenario string
	Events            []event
}

type event struct {
	Step, Session, Stream, By, Hex, Datagram string
	Reset, Stop, Close                       string
	Fin                                      bool
}

// recordings are those of a scenario, by version.
func recordings(t *testing.T, scenario string) map[lite.Version]recording {
	t.Helper()
	b, err := os.ReadFile("testdata/lite-sessions.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []recording
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	found := make(map[lite.Version]recording)
	for _, r := range all {
		for v := lite.V03; v <= lite.V07WIP; v++ {
			if r.Scenario == scenario && r.Version == v.String() {
				found[v] = r
			}
		}
	}
	if len(found) == 0 {
		t.Fatalf("no recording of %q", scenario)
	}
	return found
}

// collector gathers what is read from a stream, to its end.
type collector struct {
	said strings.Builder
	done chan struct{}
}

func collect(r io.Reader) *collector {
	c := &collector{done: make(chan struct{})}
	go func() {
		defer close(c.done)
		b := make([]byte, 4096)
		for {
			n, err := r.Read(b)
			c.said.WriteString(hex.EncodeToString(b[:n]))
			switch {
			case err == io.EOF:
				c.said.WriteString(" fin")
			case code(err) >= 0:
				fmt.Fprintf(&c.said, " reset %#x", code(err))
			}
			if err != nil {
				return
			}
		}
	}()
	return c
}

// now is what was said by now, in a bubble at rest.
func (c *collector) now() string { return c.said.String() }

func (e event) bytes(t *testing.T) []byte {
	t.Helper()
	return unhex(t, e.Hex)
}

// said is what one side of a recording says on a stream, as collector has it.
func (r recording) said(match func(event) bool) string {
	var b strings.Builder
	for _, e := range r.Events {
		if !match(e) {
			continue
		}
		b.WriteString(e.Hex)
		if e.Fin {
			b.WriteString(" fin")
		}
		if e.Reset != "" {
			b.WriteString(" reset " + e.Reset)
		}
	}
	return b.String()
}

// TestAnswersToOddInput: each probe of the recordings gets the recorded answer, to
// the byte.
func TestAnswersToOddInput(t *testing.T) {
	for v, r := range recordings(t, "raw probes: how the peer answers odd input") {
		t.Run(v.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { r.probe(t, v) })
		})
	}
}

func (r recording) probe(t *testing.T, v lite.Version) {
	server := newSide(1)
	b := moq.NewBroadcast(server.origin.Cache(), nil)
	w, err := b.Create("video", moq.DefaultTrackInfo)
	if err != nil {
		t.Fatal(err)
	}
	server.origin.Publish("room/alice", b)
	if err := w.WriteGroup(0, moq.Frame{Timestamp: 1000, Payload: []byte("k0")}); err != nil {
		t.Fatal(err)
	}
	peer, served := serveRaw(t, v, server)
	step, steps := "", map[string]string{} // by stream
	streams, answers := map[string]session.Stream{}, map[string]*collector{}
	for _, e := range r.Events {
		if e.Step != "" {
			step = e.Step
		}
		if e.By != "client" || !strings.HasPrefix(step, "raw client") || !strings.HasPrefix(e.Stream, "client-bidi") {
			continue
		}
		s := streams[e.Stream]
		if s == nil && e.Hex == "" {
			continue // of the client's own, as it closes
		}
		if s == nil {
			s = ask(t, peer, nil)
			streams[e.Stream], answers[e.Stream], steps[e.Stream] = s, collect(s), step
		}
		if e.Hex != "" {
			s.Write(e.bytes(t))
		}
		if e.Fin {
			s.Close()
		}
		synctest.Wait()
	}
	if !v.HasGoaway() {
		peer.Close(session.CodeNoError, "")
	} else if err := <-served.ended; !strings.Contains(err.Error(), "protocol violation") {
		t.Errorf("after the second GOAWAY: %v", err)
	}
	for name, got := range answers {
		<-got.done
		want := r.said(func(e event) bool { return e.Stream == name && e.By == "server" })
		said := got.now()
		switch step := steps[name]; {
		case strings.HasSuffix(step, "opener FIN after"), strings.HasSuffix(step, "then FIN"),
			strings.Contains(step, "garbage as UPDATE"):
			said, want = endOf(said), endOf(want) // what goes out before that is seen, differs
		case strings.HasSuffix(step, "second GOAWAY"):
			continue // the session's end may overtake the reset
		case strings.HasSuffix(step, "FIN while pending") && said == " reset 0x33":
			continue // ours was not pending: the answer was there at once
		}
		if said != want {
			t.Errorf("%s: answer %q, want %q", steps[name], said, want)
		}
	}
}

// endOf is how a stream ended, without its bytes.
func endOf(said string) string { return said[max(strings.IndexByte(said, ' '), 0):] }

// TestRelaySaysTheSame: between the recorded publisher and the recorded viewer our
// relay says what the recorded relay did.
func TestRelaySaysTheSame(t *testing.T) {
	for v, r := range recordings(t, "publish, relay, view") {
		t.Run(v.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { newReplay(t, v, r).run() })
		})
	}
}

// replay plays the clients of a recording against a relay of ours.
type replay struct {
	t     *testing.T
	v     lite.Version
	r     recording
	relay *side
	ends  map[string]*replayEnd // by session
}

// replayEnd is one client.
type replayEnd struct {
	conn    *fakeConn
	sess    *running
	streams map[string]session.SendStream // of the recording's, those the client writes to
	heard   map[string]*collector         // what the relay says, by stream
	asked   []*asked                      // streams that the relay opened
	unis    []*collector
}

type asked struct {
	stream session.Stream
	heard  *collector
	name   string // of the recorded stream that it stands for
}

func newReplay(t *testing.T, v lite.Version, r recording) *replay {
	p := &replay{t: t, v: v, r: r, relay: newSide(3), ends: map[string]*replayEnd{}}
	return p
}

func (p *replay) end(name string) *replayEnd {
	if e := p.ends[name]; e != nil {
		return e
	}
	client, server := newFakeConns()
	e := &replayEnd{conn: client, streams: map[string]session.SendStream{}, heard: map[string]*collector{}}
	p.ends[name] = e
	e.sess = p.relay.run(p.t, server, p.v, true)
	go func() {
		for {
			s, err := client.AcceptStream(p.t.Context())
			if err != nil {
				return
			}
			e.asked = append(e.asked, &asked{stream: s, heard: collect(s)})
		}
	}()
	go func() {
		for {
			s, err := client.AcceptUniStream(p.t.Context())
			if err != nil {
				return
			}
			e.unis = append(e.unis, collect(s))
		}
	}()
	return e
}

func (p *replay) run() {
	for _, e := range p.r.Events {
		switch {
		case strings.HasPrefix(e.Step, "relay drains"):
			if err := p.ends["s1"].sess.Goaway(p.t.Context(), "https://b.example/"); err != nil {
				p.t.Error(err)
			}
		case e.Step == "viewer closes":
			p.compare()
			return
		case e.By == "client":
			p.play(e)
		}
		synctest.Wait()
		if strings.HasPrefix(e.Step, "publisher finishes the track") || strings.HasPrefix(e.Step, "publisher unannounces") {
			time.Sleep(3 * time.Second) // before 05 the end is only known by waiting
		}
	}
}

// play does what the recorded client did.
func (p *replay) play(e event) {
	end := p.end(e.Session)
	if e.Datagram != "" {
		end.conn.SendDatagram(unhex(p.t, e.Datagram))
		return
	}
	s := end.streams[e.Stream]
	if s == nil {
		if s = p.open(end, e); s == nil {
			return // the relay has asked less often
		}
		end.streams[e.Stream] = s
	}
	if e.Hex != "" {
		s.Write(e.bytes(p.t))
	}
	if e.Fin {
		s.Close()
	}
	if e.Reset != "" {
		s.Reset(session.StreamCancelled)
	}
}

// open begins a stream of the client, or finds the one that the relay has opened
// with the recorded request.
func (p *replay) open(end *replayEnd, e event) session.SendStream {
	switch {
	case strings.HasPrefix(e.Stream, "client-uni"):
		s, err := end.conn.OpenUniStream()
		if err != nil {
			p.t.Fatal(err)
		}
		return s
	case strings.HasPrefix(e.Stream, "client-bidi"):
		s, err := end.conn.OpenStream(p.t.Context())
		if err != nil {
			p.t.Fatal(err)
		}
		end.heard[e.Stream] = collect(s)
		return s
	}
	first := slices.IndexFunc(p.r.Events, func(o event) bool {
		return o.Session == e.Session && o.Stream == e.Stream && o.By == "server" && o.Hex != ""
	})
	for _, a := range end.asked {
		if a.name == "" && first >= 0 && strings.HasPrefix(a.heard.now(), p.r.Events[first].Hex) {
			a.name = e.Stream
			end.heard[e.Stream] = a.heard
			return a.stream
		}
	}
	return nil
}

// compare holds what the relay said against the recording. PROBE, which we do not
// ask for, and a second TRACK, which we do not need, are left out.
func (p *replay) compare() {
	for name, end := range p.ends {
		for stream, got := range end.heard {
			want := p.r.said(func(e event) bool { return e.Session == name && e.Stream == stream && e.By == "server" })
			if kind := p.r.said(func(e event) bool { return e.Session == name && e.Stream == stream && e.By == "client" }); kind == "04" {
				continue
			}
			if stream == "client-bidi0" && p.v < lite.V05 || stream == "client-bidi1" || strings.HasPrefix(stream, "server-bidi") {
				want = p.untilClose(name, stream)
			}
			if got.now() != want {
				p.t.Errorf("%s %s: the relay says %q, recorded %q", name, stream, got.now(), want)
			}
		}
		if diff := cmp.Diff(p.recordedUnis(name), sortedSaid(end.unis)); diff != "" {
			p.t.Errorf("%s, unidirectional streams (-recorded +ours):\n%s", name, diff)
		}
		p.compareDatagrams(name, end)
	}
}

// untilClose is what the recorded relay says before the clients close.
func (p *replay) untilClose(name, stream string) string {
	r := p.r
	last := slices.IndexFunc(r.Events, func(e event) bool { return e.Step == "viewer closes" })
	r.Events = r.Events[:last]
	return r.said(func(e event) bool { return e.Session == name && e.Stream == stream && e.By == "server" })
}

func (p *replay) recordedUnis(name string) []string {
	said := map[string]string{}
	for _, e := range p.r.Events {
		if e.Session == name && e.By == "server" && strings.HasPrefix(e.Stream, "server-uni") {
			said[e.Stream] = p.untilClose(name, e.Stream)
		}
	}
	list := []string{}
	for _, s := range said {
		list = append(list, s)
	}
	slices.Sort(list)
	return list
}

func sortedSaid(cs []*collector) []string {
	list := []string{}
	for _, c := range cs {
		list = append(list, c.now())
	}
	slices.Sort(list)
	return list
}

func (p *replay) compareDatagrams(name string, end *replayEnd) {
	var want, got []string
	for _, e := range p.r.Events {
		if e.Session == name && e.By == "server" && e.Datagram != "" {
			want = append(want, e.Datagram)
		}
	}
	end.conn.mu.Lock()
	defer end.conn.mu.Unlock()
	for _, g := range end.conn.grams {
		got = append(got, hex.EncodeToString(g))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		p.t.Errorf("%s, datagrams (-recorded +ours):\n%s", name, diff)
	}
}
