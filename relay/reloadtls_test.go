package relay

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/moqmesh/moqmesh/internal/testcert"
	"github.com/moqmesh/moqmesh/moq/client"
	"github.com/moqmesh/moqmesh/relay/conf"
)

// withCerts serves QUIC and HTTPS with a certificate of ca for loopback.
func withCerts(t *testing.T, ca *testcert.CA, name string) edit {
	cert, key := ca.Server(t, "127.0.0.1").Write(t, t.TempDir(), name)
	return func(c *conf.Relay) {
		c.Listen.TLS = conf.ListenTLS{Cert: []string{cert}, Key: []string{key}}
		c.Web.HTTPS = conf.WebHTTPS{Listen: "127.0.0.1:0", Cert: []string{cert}, Key: []string{key}}
	}
}

// trusting dials with the roots of ca alone.
func trusting(ca *testcert.CA) func(*client.Config) {
	return func(c *client.Config) { c.Dial.TLS = &tls.Config{RootCAs: ca.Pool()} }
}

// trusted says over which of its listeners the relay proves itself to those who trust ca.
func (n *node) trusted(t *testing.T, ca *testcert.CA) (over string) {
	t.Helper()
	for _, scheme := range []string{"moqt", "https"} {
		if p, err := tryDial(t, n.url(scheme, "/"), trusting(ca)); err == nil {
			p.leave()
			over += scheme + " "
		}
	}
	web := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: ca.Pool()}}}
	if res, err := web.Get("https://" + n.Addrs()["https"].String() + "/health"); err == nil {
		res.Body.Close()
		over += "web"
	}
	return over
}

// A48: other certificate files serve the next handshake on each listener, and leave
// alone what plays.
func TestA48ReloadOfCertificatePaths(t *testing.T) {
	one, two := testcert.NewCA(t, "one"), testcert.NewCA(t, "two")
	n := start(t, withCerts(t, one, "first"))
	w := dial(t, n.url("moqt", "/"), trusting(one)).publish(t, "x", "video")
	s := dial(t, n.url("https", "/"), trusting(one)).view(t, "x", "video")
	const everywhere = "moqt https web"
	if before, other := n.trusted(t, one), n.trusted(t, two); before != everywhere || other != "" {
		t.Fatalf("before the reload: %q with the first authority, %q with the second", before, other)
	}
	if err := n.reload(withCerts(t, two, "second"), func(c *conf.Relay) { c.Web.HTTPS.Listen = n.cfg.Load().Web.HTTPS.Listen }); err != nil {
		t.Fatal(err)
	}
	if after, other := n.trusted(t, two), n.trusted(t, one); after != everywhere || other != "" {
		t.Errorf("after the reload: %q with the second authority, %q with the first", after, other)
	}
	write(t, w, 0, "frame")
	expect(t, s, 0, "frame")
	n.logged(t, `msg="configuration changed" key=listen.tls.cert`, `msg="configuration changed" key=listen.tls.key`,
		`msg="configuration changed" key=web.https.cert`, `msg="configuration changed" key=web.https.key`)
	if strings.Contains(n.log.String(), "needs a restart") {
		t.Errorf("something waits for a restart:\n%s", n.log)
	}
}

// Whatever of a reload is wrong, nothing of it is applied: each row breaks one part
// and brings a good change of all the others.
func TestReloadOfCertificatesIsAllOrNothing(t *testing.T) {
	one, two, dir := testcert.NewCA(t, "one"), testcert.NewCA(t, "two"), t.TempDir()
	broken := filepath.Join(dir, "broken.pem")
	if err := os.WriteFile(broken, []byte("-----BEGIN"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, wrong := range map[string]edit{
		"certificate": func(c *conf.Relay) { c.Listen.TLS.Cert = []string{broken} },
		"client CA":   func(c *conf.Relay) { c.Listen.TLS.Root = []string{broken} },
		"web key":     func(c *conf.Relay) { c.Web.HTTPS.Key = []string{broken} },
		"authority":   func(c *conf.Relay) { c.Connect.TLS.Root = []string{broken} },
		"conflict": func(c *conf.Relay) {
			c.Connect.TLS.Insecure = true
			c.Connect.TLS.Root = []string{two.Write(t, dir, "ca.pem")}
		},
		"no certificates": func(c *conf.Relay) { c.Listen.TLS = conf.ListenTLS{} },
		"key":             func(c *conf.Relay) { c.Auth = conf.Auth{Key: broken} },
	} {
		t.Run(name, func(t *testing.T) {
			n := start(t, withCerts(t, one, "first"))
			before := *n.cfg.Load()
			good := func(c *conf.Relay) {
				c.Limits.Sessions = 1
				c.Connect.TLS.Root = []string{two.Write(t, dir, "ca.pem")}
				c.Auth.PublicSubscribe = conf.Rules{"more/**"}
			}
			if err := n.reload(withCerts(t, two, "second"), good, wrong); err == nil {
				t.Fatal("reloaded")
			}
			if got := n.trusted(t, one); got != "moqt https web" {
				t.Errorf("the first authority is good for %q", got)
			}
			if after := *n.cfg.Load(); !reflect.DeepEqual(before, after) {
				t.Errorf("in force: %+v, want what was", conf.Changes(before, after))
			}
		})
	}
}

// A CA for clients that comes with a reload is asked for by the next handshake.
func TestReloadOfClientCA(t *testing.T) {
	ca := testcert.NewCA(t, "clients")
	n := start(t)
	mustRefuse(t, n, "moqt", "/?jwt=x", "token-unasked")
	err := n.reload(func(c *conf.Relay) {
		c.Auth = conf.Auth{}
		c.Listen.TLS.Root = []string{ca.Write(t, t.TempDir(), "ca.pem")}
	})
	if err != nil {
		t.Fatal(err)
	}
	mustRefuse(t, n, "moqt", "/live", "no-credential")
	own := presenting(ca.Client(t, "encoder"))
	write(t, dial(t, n.url("moqt", "/live"), own).publish(t, "cam", "video"), 0, "hello")
	expect(t, dial(t, n.url("https", "/"), own).view(t, "live/cam", "video"), 0, "hello")
}

// The next call of the auth API trusts and presents what the last reload named.
func TestReloadOfDialCertificates(t *testing.T) {
	ca, other, dir := testcert.NewCA(t, "api"), testcert.NewCA(t, "other"), t.TempDir()
	caller := make(chan string, 1)
	api := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller <- r.TLS.PeerCertificates[0].Subject.CommonName
		_, _ = w.Write([]byte(`{"public":{"subscribe":["**"],"publish":["**"]}}`))
	}))
	clients := x509.NewCertPool()
	clients.AppendCertsFromPEM(ca.PEM())
	api.TLS = &tls.Config{Certificates: []tls.Certificate{ca.Server(t, "127.0.0.1").TLS}, ClientCAs: clients, ClientAuth: tls.RequireAndVerifyClientCert}
	api.Config.ErrorLog = log.New(io.Discard, "", 0)
	api.StartTLS()
	defer api.Close()

	n := start(t, func(c *conf.Relay) {
		c.Auth = conf.Auth{API: api.URL}
		c.Connect.TLS.Root = []string{other.Write(t, dir, "other.pem")}
	})
	mustFail(t, n)
	err := n.reload(func(c *conf.Relay) {
		c.Connect.TLS.Root = []string{ca.Write(t, dir, "api.pem")}
		c.Connect.TLS.Cert, c.Connect.TLS.Key = ca.Client(t, "edge-1").Write(t, dir, "edge")
	})
	if err != nil {
		t.Fatal(err)
	}
	dial(t, n.url("moqt", "/"))
	if got := <-caller; got != "edge-1" {
		t.Errorf("the API was called by %q, want edge-1", got)
	}
}

// mustFail dials, and wants the close that says that the auth API did not answer.
func mustFail(t *testing.T, n *node) {
	t.Helper()
	if closed := turnedAway(t, n.url("moqt", "/")); closed.Code != appCode(http.StatusBadGateway) {
		t.Errorf("closed with %v, want %d", closed, http.StatusBadGateway)
	}
}

// What package conf calls live is what a reload applies.
func TestLiveSettingsAreApplied(t *testing.T) {
	running, next := conf.Default(), conf.Default()
	alter(reflect.ValueOf(&next).Elem())
	applied := withLive(running, next)
	for _, c := range conf.Changes(applied, next) {
		if c.Live {
			t.Errorf("%s is marked live, and waits for a restart", c.Key)
		}
	}
	for _, c := range conf.Changes(running, applied) {
		if !c.Live {
			t.Errorf("%s is not marked live, and is applied", c.Key)
		}
	}
	if n := len(conf.Changes(running, applied)); n < 20 {
		t.Errorf("%d settings changed: the test alters too few", n)
	}
}

// alter changes every setting below v.
func alter(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				alter(v.Field(i))
			}
		}
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), v.Len()+1, v.Len()+1))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
	default:
		if v.CanInt() {
			v.SetInt(v.Int() + 1)
		} else if v.CanUint() {
			v.SetUint(v.Uint() + 1)
		}
	}
}
