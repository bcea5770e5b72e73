package relay

import (
	"bufio"
	"context"
	"crypto/tls"
	"testing"
	"time"

	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/transport"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
	"github.com/moqmesh/moqmesh/relay/conf"
)

// wirePeer is a client that says exactly what a test wants said.
type wirePeer struct {
	session.Conn
	v lite.Version
}

// dialWire connects and sends an empty SETUP.
func dialWire(t *testing.T, n *node, scheme string, v lite.Version) wirePeer {
	t.Helper()
	d, err := transport.Dial(bounded(t), n.url(scheme, "/"), transport.DialConfig{
		ALPNs: []string{v.ALPN()}, TLS: &tls.Config{InsecureSkipVerify: true}, WebSocketDelay: -1,
	})
	if err != nil {
		t.Fatal(err)
	}
	moved := make(chan struct{})
	go func() {
		defer close(moved)
		if d.Run != nil {
			d.Run(context.Background())
		}
	}()
	t.Cleanup(func() { d.Conn.Close(session.CodeNoError, ""); <-moved })
	if c, ok := d.Conn.(interface{ Ready(context.Context) error }); ok {
		if err := c.Ready(bounded(t)); err != nil {
			t.Fatal(err)
		}
	}
	setup, err := d.Conn.OpenUniStream()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := setup.Write(lite.Setup{}.Append(lite.StreamSetup.Append(nil, v), v)); err != nil {
		t.Fatal(err)
	}
	setup.Close()
	return wirePeer{d.Conn, v}
}

// ask opens a stream with a request.
func (p wirePeer) ask(t *testing.T, kind lite.BidiStream, request []byte) *bufio.Reader {
	t.Helper()
	s, err := p.OpenStream(bounded(t))
	if err != nil {
		t.Fatal(err)
	}
	s.SetReadDeadline(time.Now().Add(patience))
	if _, err := s.Write(append(kind.Append(nil, p.v), request...)); err != nil {
		t.Fatal(err)
	}
	return bufio.NewReader(s)
}

// discovered is the number of broadcasts that the relay tells of.
func (p wirePeer) discovered(t *testing.T, request lite.AnnounceRequest) uint64 {
	t.Helper()
	body, err := lite.ReadBody(p.ask(t, lite.StreamAnnounce, request.Append(nil, p.v)), p.v, nil)
	if err != nil {
		t.Fatal(err)
	}
	ok, err := lite.DecodeAnnounceOK(body, p.v)
	if err != nil {
		t.Fatal(err)
	}
	return ok.Active
}

// subscribes says whether the relay serves a track.
func (p wirePeer) subscribes(t *testing.T, broadcast, track string) error {
	t.Helper()
	m := lite.Subscribe{Broadcast: broadcast, Track: track}
	_, err := p.ask(t, lite.StreamSubscribe, m.Append(nil, p.v)).ReadByte()
	return err
}

// E1, E2: a name that starts with a dot is found only by those who ask for it,
// which versions before 07 cannot; whoever knows it may read it.
func TestE1E2HiddenNames(t *testing.T) {
	for _, tt := range []struct {
		v       lite.Version
		request lite.AnnounceRequest
		finds   uint64
	}{
		{lite.V07WIP, lite.AnnounceRequest{}, 1},
		{lite.V07WIP, lite.AnnounceRequest{Hidden: true}, 2},
		{lite.V07WIP, lite.AnnounceRequest{Prefix: ".hidden"}, 1}, // asked for by name
		{lite.V06, lite.AnnounceRequest{}, 1},
		{lite.V05, lite.AnnounceRequest{}, 1},
	} {
		n := start(t, withVersions(tt.v))
		pub := dial(t, n.url("moqt", "/"), speaking(tt.v))
		write(t, pub.publish(t, ".hidden/x", "video"), 0, "hello")
		pub.publish(t, "shown/x", "video")
		eventually(t, "both announced", func() bool { return n.origin.Len() == 2 })
		p := dialWire(t, n, "moqt", tt.v)
		if got := p.discovered(t, tt.request); got != tt.finds {
			t.Errorf("%v %+v discovers %d broadcasts, want %d", tt.v, tt.request, got, tt.finds)
		}
		if err := p.subscribes(t, ".hidden/x", "video"); err != nil {
			t.Errorf("%v: subscribe to the hidden name: %v", tt.v, err)
		}
	}
}

// Adverts of relays are for relays: nobody else sees them over HTTP, asked for by
// name or not. (Sessions: cluster.TestRestrict.)
func TestAdvertsAreForPeers(t *testing.T) {
	n := start(t, func(c *conf.Relay) {
		c.Cluster.Node, c.Cluster.Mesh.On = "https://n.example/", true
	})
	eventually(t, "advertised", func() bool { return n.origin.Len() == 1 })
	for _, path := range []string{"/announced", "/announced/.internal", "/announced/.internal/origins"} {
		if status, body := get(t, n.url("http", path)); status != 200 || body != "" {
			t.Errorf("%s = %d %q, want nothing", path, status, body)
		}
	}
	if status, body := get(t, n.url("http", "/fetch/.internal/origins/https:/n.example/x")); status != 403 {
		t.Errorf("fetch = %d %q, want 403", status, body)
	}
}

// What a session may not see does not exist for it either.
func TestOutsideTheGrantIsUnroutable(t *testing.T) {
	n := start(t, withPublic("open/**"))
	w := dial(t, n.url("moqt", "/open")).publish(t, "x", "video")
	write(t, w, 0, "hello")
	eventually(t, "announced", func() bool { return n.origin.Len() == 1 })
	p := dialWire(t, n, "moqt", lite.V06)
	if err := p.subscribes(t, "open/x", "video"); err != nil {
		t.Errorf("subscribe inside the grant: %v", err)
	}
	for _, name := range []string{"secret/x", "opened/x", ""} {
		if err := p.subscribes(t, name, "video"); err == nil {
			t.Errorf("%q is served outside the grant", name)
		}
	}
	if err := context.Cause(p.Context()); err != nil {
		t.Errorf("the session ended with %v", err)
	}
}
