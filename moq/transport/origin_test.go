package transport

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/quic-go/quicvarint"

	"github.com/moqmesh/moqmesh/internal/simlink"
)

// Settings of HTTP/3, by the names of their specifications.
const (
	settingConnectProtocol  = 0x8        // RFC 9220
	settingDatagram         = 0x33       // RFC 9297
	settingWTEnabled        = 0x2c7cf000 // draft-ietf-webtrans-http3-15
	settingWTMaxSessions    = 0x14e9cd29 // what Safari 26.4 waits for
	settingWTMaxData        = 0x2b61     // WebTransport's own flow control
	settingWTMaxStreamsUni  = 0x2b64
	settingWTMaxStreamsBidi = 0x2b65
)

// dialH3 connects to the server as a browser would, without a session yet.
func dialH3(t *testing.T, n *simlink.Network, addr string) *quic.Conn {
	t.Helper()
	tr := &quic.Transport{Conn: n.Host(addr, simlink.Line{Delay: time.Millisecond})}
	conf := &tls.Config{InsecureSkipVerify: true, NextProtos: []string{http3.NextProtoH3}}
	c, err := tr.Dial(t.Context(), &net.UDPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 443}, conf, DefaultQUIC())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.CloseWithError(0, "")
		tr.Close()
		time.Sleep(5 * time.Second)
	})
	return c
}

// settings reads what the server says first on its control stream.
func settings(t *testing.T, c *quic.Conn) map[uint64]uint64 {
	t.Helper()
	s, err := c.AcceptUniStream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := quicvarint.NewReader(s)
	next := func() uint64 {
		v, err := quicvarint.Read(r)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if kind, frame := next(), next(); kind != 0 || frame != 4 {
		t.Fatalf("a stream of type %d begins with frame %d, want the control stream with SETTINGS", kind, frame)
	}
	said := make(map[uint64]uint64)
	for left := int(next()); left > 0; {
		id, v := next(), next()
		said[id] = v
		left -= quicvarint.Len(id) + quicvarint.Len(v)
	}
	return said
}

// TestSettings: the server says what the browsers of today look for, and does not
// turn on the flow control of WebTransport, which wtConn does not follow (A69).
func TestSettings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := simlink.New(t, 1)
		serve(t, n, "10.0.0.1:443", ListenConfig{})
		got := settings(t, dialH3(t, n, "10.0.0.2:1"))
		for id, name := range map[uint64]string{
			settingConnectProtocol: "ENABLE_CONNECT_PROTOCOL",
			settingDatagram:        "H3_DATAGRAM",
			settingWebTransport:    "ENABLE_WEBTRANSPORT (Chromium)",
			settingWTEnabled:       "WT_ENABLED",
			settingWTMaxSessions:   "WT_MAX_SESSIONS (Safari)",
		} {
			if got[id] < 1 {
				t.Errorf("%s (%#x) = %d, want at least 1", name, id, got[id])
			}
		}
		for _, id := range []uint64{settingWTMaxData, settingWTMaxStreamsUni, settingWTMaxStreamsBidi} {
			if v, ok := got[id]; ok {
				t.Errorf("setting %#x = %d, want it absent", id, v)
			}
		}
	})
}

// TestOtherOrigins: pages of any site may open sessions, unless CheckOrigin says
// otherwise (A69).
func TestOtherOrigins(t *testing.T) {
	for _, tt := range []struct {
		name  string
		check func(*http.Request) bool
		want  int
	}{
		{"any", nil, http.StatusOK},
		{"refused", func(r *http.Request) bool { return r.Header.Get("Origin") == "https://ours.example" }, http.StatusBadRequest},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := simlink.New(t, 1)
				s := serve(t, n, "10.0.0.1:443", ListenConfig{CheckOrigin: tt.check})
				if got := connectFrom(t, dialH3(t, n, "10.0.0.2:1"), "https://elsewhere.example"); got != tt.want {
					t.Errorf("status %d, want %d", got, tt.want)
				}
				if tt.want == http.StatusOK {
					(<-s.conns).Conn.Close(0, "")
				}
			})
		})
	}
}

// connectFrom asks for a session as a page of origin does.
func connectFrom(t *testing.T, c *quic.Conn, origin string) (status int) {
	t.Helper()
	tr := &http3.Transport{EnableDatagrams: true, AdditionalSettings: map[uint64]uint64{settingWebTransport: 1}}
	h3 := tr.NewClientConn(c)
	<-h3.ReceivedSettings()
	s, err := h3.OpenRequestStream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	u := &url.URL{Scheme: "https", Host: "relay.example", Path: "/"}
	req := &http.Request{
		Method: http.MethodConnect, Proto: webTransportConnectRequest, Host: u.Host, URL: u,
		Header: http.Header{"Origin": {origin}},
	}
	if err := s.SendRequestHeader(req.WithContext(context.Background())); err != nil {
		t.Fatal(err)
	}
	res, err := s.ReadResponse()
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode
}
