package relay

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/moqmesh/moqmesh/internal/testcert"
	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/client"
	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/transport/websocket"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
	"github.com/moqmesh/moqmesh/relay/conf"
	"github.com/moqmesh/moqmesh/token"
)

// signer makes a key and the file that verifies its tokens.
func signer(t *testing.T, kid string) (k *token.Key, file string) {
	t.Helper()
	k, err := token.GenerateKey("EdDSA", kid, nil)
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), kid+".jwk")
	writePublic(t, k, file)
	return k, file
}

func writePublic(t *testing.T, k *token.Key, file string) {
	t.Helper()
	public, err := k.Public()
	if err == nil {
		err = os.WriteFile(file, public.JSON(), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// withKey admits by token alone.
func withKey(file string) edit {
	return func(c *conf.Relay) { c.Auth = conf.Auth{Key: file} }
}

// signed is the query that carries a token for all of root, or for names below
// it that one of names matches.
func signed(t *testing.T, k *token.Key, expires time.Time, root string, names ...string) string {
	t.Helper()
	if len(names) == 0 {
		names = []string{"**"}
	}
	ps, err := token.ParsePatterns(names)
	if err != nil {
		t.Fatal(err)
	}
	s, err := k.Sign(token.Claims{Scope: token.Scope{Root: root, Publish: ps, Subscribe: ps}, Expires: expires})
	if err != nil {
		t.Fatal(err)
	}
	return "?jwt=" + s
}

// refused opens a session that the relay must refuse, and returns the status
// and the short code that the client can read.
func refused(t *testing.T, n *node, scheme, path string, edits ...func(*client.Config)) (unauthorized bool, code string) {
	t.Helper()
	p, err := tryDial(t, n.url(scheme, path), edits...)
	var status *websocket.StatusError
	switch {
	case errors.As(err, &status):
		return status.Status == 401 || status.Status == 403, ""
	case err != nil:
		t.Fatalf("dial %s: %v", scheme, err)
	}
	closed := p.closedWith(t)
	return closed.Code == session.CodeUnauthorized, closed.Reason
}

func mustRefuse(t *testing.T, n *node, scheme, path, code string, edits ...func(*client.Config)) {
	t.Helper()
	unauthorized, got := refused(t, n, scheme, path, edits...)
	if shown, _, _ := strings.Cut(path, "?"); !unauthorized || got != code && got != "" {
		t.Errorf("%s %s: unauthorized %v, code %q, want %q", scheme, shown, unauthorized, got, code)
	}
}

// nextSecond is the first whole second at least ahead away, as tokens have it.
func nextSecond(ahead time.Duration) time.Time {
	return time.Now().Add(ahead + time.Second).Truncate(time.Second)
}

// D8, A57: a session ends with its credential.
func TestD8ExpiryClosesOnEveryTransport(t *testing.T) {
	k, file := signer(t, "root")
	n := start(t, withKey(file))
	for _, scheme := range allTransports {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			exp := nextSecond(500 * time.Millisecond)
			p := dial(t, n.url(scheme, "/room"+signed(t, k, exp, "room")))
			write(t, p.publish(t, "cam", "video"), 0, "hello") // it is admitted until then
			eventually(t, "admitted", func() bool { return len(n.origin.Paths("room", moq.Reader{})) > 0 })
			closed := p.closedWith(t)
			if closed.Code != session.CodeUnauthorized || closed.Reason != "expired" {
				t.Errorf("closed with %v, want %v (expired)", closed, session.CodeUnauthorized)
			}
			if late := time.Since(exp); late < -50*time.Millisecond || late > 500*time.Millisecond {
				t.Errorf("closed %v after the expiry", late)
			}
		})
	}
	t.Run("fetch", func(t *testing.T) {
		t.Parallel()
		own := dial(t, n.url("moqt", "/"+signed(t, k, time.Time{}, "")))
		g, err := own.publish(t, "fetched", "video").Group(0)
		if err != nil {
			t.Fatal(err)
		}
		g.WriteFrame(moq.Frame{Payload: []byte("first")})
		exp := nextSecond(500 * time.Millisecond)
		res, err := webClient.Get(n.url("http", "/fetch/fetched/video"+signed(t, k, exp, "fetched")))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if body, err := io.ReadAll(res.Body); err == nil || string(body) != "first" {
			t.Errorf("fetch ended like a whole group, with %q", body)
		}
		if late := time.Since(exp); late < -50*time.Millisecond || late > 500*time.Millisecond {
			t.Errorf("cut %v after the expiry", late)
		}
	})
}

func withClientCA(file string) edit {
	return func(c *conf.Relay) { c.Listen.TLS.Root = []string{file}; c.Auth = conf.Auth{} }
}

func presenting(c *testcert.Cert) func(*client.Config) {
	return func(cfg *client.Config) { cfg.Dial.TLS.Certificates = []tls.Certificate{c.TLS} }
}

func TestA57CertificateExpiryClosesTheSession(t *testing.T) {
	ca := testcert.NewCA(t, "clients")
	n := start(t, withClientCA(ca.Write(t, t.TempDir(), "ca.pem")))
	for _, scheme := range []string{"moqt", "https"} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			end := nextSecond(500 * time.Millisecond)
			cert := ca.Issue(t, testcert.Request{CommonName: "encoder", NotAfter: end, Usage: x509.ExtKeyUsageClientAuth})
			closed := dial(t, n.url(scheme, "/live"), presenting(cert)).closedWith(t)
			if late := time.Since(end); closed.Code != session.CodeUnauthorized || late < -50*time.Millisecond || late > 500*time.Millisecond {
				t.Errorf("closed with %v, %v after notAfter", closed, late)
			}
		})
	}
}

// A verified certificate opens everything below the dialled path, and only that.
func TestClientCertificate(t *testing.T) {
	ca := testcert.NewCA(t, "clients")
	n := start(t, withClientCA(ca.Write(t, t.TempDir(), "ca.pem")))
	own := presenting(ca.Client(t, "encoder"))
	write(t, dial(t, n.url("moqt", "/live"), own).publish(t, "cam", "video"), 0, "hello")
	expect(t, dial(t, n.url("https", "/"), own).view(t, "live/cam", "video"), 0, "hello")
	mustRefuse(t, n, "moqt", "/live", "no-credential")
	stranger := presenting(testcert.NewCA(t, "others").Client(t, "encoder"))
	if p, err := tryDial(t, n.url("moqt", "/live"), stranger); err == nil {
		<-p.gone // TLS 1.3 tells a client after its own handshake
		var closed *session.CloseError
		if errors.As(p.why, &closed) && closed.Code == session.CodeNoError {
			t.Errorf("a certificate of another CA was let in: %v", p.why)
		}
	}
	n.settled(t, 2)
}

// A58: the scope of a certificate is told from the root of the relay, whatever path
// its client chooses to dial.
func TestA58ScopesCountFromTheRoot(t *testing.T) {
	ca := testcert.NewCA(t, "clients")
	n := start(t, withClientCA(ca.Write(t, t.TempDir(), "ca.pem")), func(c *conf.Relay) {
		c.Listen.TLS.Scopes = conf.Scopes{"leaf-a": {"a/**"}}
	})
	leaf := presenting(ca.Client(t, "leaf-a"))
	mustRefuse(t, n, "moqt", "/b", "path-not-covered", leaf)
	pub := dial(t, n.url("moqt", "/"), leaf)
	pub.publish(t, "b/cam", "video") // not covered: nobody hears of it
	write(t, pub.publish(t, "a/cam", "video"), 0, "hello")
	expect(t, dial(t, n.url("https", "/a"), leaf).view(t, "cam", "video"), 0, "hello")
	full := presenting(ca.Client(t, "edge"))
	expect(t, dial(t, n.url("https", "/"), full).view(t, "a/cam", "video"), 0, "hello")
	if got := n.origin.Paths("", moq.Reader{}); len(got) != 1 || got[0] != "a/cam" {
		t.Errorf("announced: %q, want a/cam alone", got)
	}
}

func TestD9NothingConfigured(t *testing.T) {
	cfg := testConfig()
	cfg.Auth = conf.Auth{}
	if _, err := New(cfg, Options{}); err == nil || !strings.Contains(err.Error(), "auth") {
		t.Errorf("a relay that can admit nobody starts: %v", err)
	}
}

func TestD12NamesAreRelativeToTheDialledPath(t *testing.T) {
	n := start(t, withPublic("anon/**"))
	pub := dial(t, n.url("moqt", "/"))
	pub.publish(t, "other/y", "video") // not covered: nobody hears of it
	write(t, pub.publish(t, "anon/x", "video"), 0, "hello")
	for _, scheme := range allTransports {
		for path, name := range map[string]string{"/": "anon/x", "/anon": "x", "/anon/": "x", "/anon/x": ""} {
			expect(t, dial(t, n.url(scheme, path)).view(t, name, "video"), 0, "hello")
		}
		mustRefuse(t, n, scheme, "/rooms/1", "path-not-covered")
	}
	if got := n.origin.Paths("", moq.Reader{}); len(got) != 1 || got[0] != "anon/x" {
		t.Errorf("announced: %q, want anon/x alone", got)
	}
}

func TestD13LeadingWildcard(t *testing.T) {
	n := start(t, withPublic("*/open/**"))
	write(t, dial(t, n.url("moqt", "/team/open")).publish(t, "cam", "video"), 0, "hello")
	expect(t, dial(t, n.url("moqt", "/team")).view(t, "open/cam", "video"), 0, "hello")
	mustRefuse(t, n, "moqt", "/team/closed", "path-not-covered")
}

func TestD16Roles(t *testing.T) {
	for _, tt := range []struct {
		name            string
		granted, denied lite.Role
		auth            conf.Auth
	}{
		{"subscribe only", lite.RoleSubscriber, lite.RolePublisher, conf.Auth{PublicSubscribe: conf.Rules{"**"}}},
		{"publish only", lite.RolePublisher, lite.RoleSubscriber, conf.Auth{PublicPublish: conf.Rules{"**"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := start(t, func(c *conf.Relay) { c.Auth = tt.auth })
			for i, scheme := range allTransports {
				mustRefuse(t, n, scheme, "/", "role-not-granted", as(tt.denied))
				dial(t, n.url(scheme, "/"), as(tt.granted))
				n.settled(t, i+1)
			}
		})
	}
}

// A role that is granted drops the other direction, whatever the grant says.
func TestD16DeclaredRoleNarrows(t *testing.T) {
	n := start(t)
	sub := dial(t, n.url("moqt", "/"), as(lite.RoleSubscriber))
	sub.publish(t, "from/a/viewer", "video")
	w := dial(t, n.url("moqt", "/"), as(lite.RolePublisher)).publish(t, "x", "video")
	write(t, w, 0, "hello")
	expect(t, sub.view(t, "x", "video"), 0, "hello")
	if got := n.origin.Paths("", moq.Reader{}); len(got) != 1 {
		t.Errorf("announced: %q, want x alone", got)
	}
}

func TestD17ScopesEndAtSegments(t *testing.T) {
	k, file := signer(t, "root")
	n := start(t, withKey(file))
	all := dial(t, n.url("moqt", "/"+signed(t, k, time.Time{}, "")))
	all.publish(t, "foobar", "video")
	write(t, all.publish(t, "foo/bar", "video"), 0, "hello")
	eventually(t, "both announced", func() bool { return n.origin.Len() == 2 })
	query := signed(t, k, time.Time{}, "", "foo/**")
	expect(t, dial(t, n.url("moqt", "/"+query)).view(t, "foo/bar", "video"), 0, "hello")
	if status, body := get(t, n.url("http", "/announced"+query)); status != 200 || body != "foo/bar" {
		t.Errorf("announced to foo: %d %q", status, body)
	}
	for _, scheme := range allTransports {
		mustRefuse(t, n, scheme, "/foobar"+query, "path-not-covered")
	}
}

func TestD18Roots(t *testing.T) {
	k, file := signer(t, "root")
	n := start(t, withKey(file))
	query := signed(t, k, time.Time{}, "demo")
	write(t, dial(t, n.url("moqt", "/demo/room"+query)).publish(t, "cam", "video"), 0, "hello")
	for _, scheme := range allTransports {
		expect(t, dial(t, n.url(scheme, "/"+query)).view(t, "demo/room/cam", "video"), 0, "hello")
		mustRefuse(t, n, scheme, "/other"+query, "path-not-covered")
	}
}

func TestD20KeyDirectoryRotates(t *testing.T) {
	first, file := signer(t, "first")
	n := start(t, func(c *conf.Relay) { c.Auth = conf.Auth{KeyDir: filepath.Dir(file)} })
	dial(t, n.url("moqt", "/"+signed(t, first, time.Time{}, "")))
	second, err := token.GenerateKey("ES256", "second", nil)
	if err != nil {
		t.Fatal(err)
	}
	query := signed(t, second, time.Time{}, "")
	mustRefuse(t, n, "moqt", "/"+query, "token-key")
	writePublic(t, second, filepath.Join(filepath.Dir(file), "second.jwk"))
	dial(t, n.url("moqt", "/"+query))
	n.settled(t, 2)
}

// A61: each refusal has its own code, and no token is in any line of the log.
func TestA61TokensAreNeverLogged(t *testing.T) {
	k, file := signer(t, "root")
	stranger, err := token.GenerateKey("EdDSA", "stranger", nil)
	if err != nil {
		t.Fatal(err)
	}
	n := start(t, func(c *conf.Relay) { c.Auth = conf.Auth{KeyDir: filepath.Dir(file)} })
	good := signed(t, k, time.Time{}, "demo")
	queries := map[string]string{
		"":                                   "no-credential",
		"?jwt=no.such.token-at-all":          "token-malformed",
		signed(t, stranger, time.Time{}, ""): "token-key",
		signed(t, k, time.Unix(1_700_000_000, 0), ""):         "token-expired",
		strings.TrimSuffix(good, good[len(good)-4:]) + "AAAA": "token-signature",
		signed(t, k, time.Time{}, "elsewhere"):                "path-not-covered",
	}
	for query, code := range queries {
		for _, scheme := range allTransports {
			mustRefuse(t, n, scheme, "/demo"+query, code)
		}
		get(t, n.url("http", "/announced/demo"+query))
		get(t, n.url("http", "/fetch/demo/video"+query))
		if !strings.Contains(n.log.String(), code) {
			t.Errorf("the log does not say %s", code)
		}
		if n.metric(t, `moqmesh_relay_sessions_refused_total{reason="`+code+`"}`) == "0" {
			t.Errorf("no refusal counted as %s", code)
		}
	}
	for _, scheme := range allTransports {
		write(t, dial(t, n.url(scheme, "/demo"+good)).publish(t, "of/"+scheme, "video"), 0, "hello")
	}
	n.settled(t, 3)
	get(t, n.url("http", "/fetch/demo/of/ws/video"+good))
	get(t, n.url("internal", "/sessions?query="+good[5:]))
	queries[good] = ""
	log := n.log.String()
	for query := range queries {
		if query == "" {
			continue
		}
		for _, part := range strings.Split(strings.TrimPrefix(query, "?jwt="), ".") {
			if len(part) > 8 && strings.Contains(log, part) {
				t.Errorf("a part of a token is in the log: %q", part)
			}
		}
	}
	if strings.Contains(log, "jwt=") {
		t.Error("a query is in the log")
	}
}
