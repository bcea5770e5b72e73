package auth

import (
	"bytes"
	"context"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"errors"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/moqmesh/moqmesh/token"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func newKey(t testing.TB, kid string) *token.Key {
	t.Helper()
	k, err := token.GenerateKey("EdDSA", kid, nil)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// writeKey puts the public half of k at path.
func writeKey(t testing.TB, path string, k *token.Key) {
	t.Helper()
	public, err := k.Public()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(public.Encode()), 0o600); err != nil {
		t.Fatal(err)
	}
}

func keyFileOf(t testing.TB, k *token.Key) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key.jwk")
	writeKey(t, path, k)
	return path
}

func patterns(t testing.TB, texts ...string) token.Patterns {
	t.Helper()
	ps, err := token.ParsePatterns(texts)
	if err != nil {
		t.Fatal(err)
	}
	return ps
}

func sign(t testing.TB, k *token.Key, c token.Claims) string {
	t.Helper()
	signed, err := k.Sign(c)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

// full are claims for everything below root.
func full(root string) token.Claims {
	all := token.Patterns{token.Everything}
	return token.Claims{Scope: token.Scope{Root: root, Publish: all, Subscribe: all}}
}

func mustNew(t testing.TB, cfg Config) *Authorizer {
	t.Helper()
	a, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func wantRefusal(t *testing.T, what string, err error, status int, code string) {
	t.Helper()
	var r *Refusal
	if !errors.As(err, &r) || r.Status != status || r.Code != code {
		t.Errorf("%s: %v, want %d %s", what, err, status, code)
	}
	if !slices.Contains(Codes(), code) {
		t.Errorf("%s is not among Codes", code)
	}
}

// access is a grant's rights in one line.
func access(g Grant) string {
	return g.Root + ": " + g.Publish.String() + " | " + g.Subscribe.String()
}

func TestConfigCheck(t *testing.T) {
	tests := []struct {
		name string
		cfg  Config
		errs []string // each must be in the error; none = usable
	}{
		{"nothing", Config{}, []string{"nobody could connect"}},
		{"client roots only", Config{ClientRoots: true}, nil},
		{"internal peers only", Config{InternalPeers: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}, nil},
		{"older public spelling", Config{Public: []string{"", "anon"}}, nil},
		{"pattern", Config{PublicSubscribe: []string{"anon/**"}}, nil},
		{"strict pattern without wildcard", Config{PublicPublish: []string{"anon"}}, []string{`auth.public_publish: "anon" has no wildcard: write "anon/**"`}},
		{"strict root", Config{PublicSubscribe: []string{""}}, []string{`write "**"`}},
		{"key and directory", Config{Key: "k", KeyDir: "d"}, []string{"exclude each other"}},
		{"API and the rest", Config{API: "https://a/", Key: "k", Public: []string{"**"}}, []string{"excludes auth.key", "excludes public rules"}},
		{"API is no URL", Config{API: "a.example"}, []string{"not an http or https URL"}},
		{"all at once", Config{Key: "k", KeyDir: "d", Public: []string{"a/***"}, Domains: []string{"a/b"}, Scopes: map[string][]string{"leaf": {"//"}}},
			[]string{"exclude each other", "auth.public:", "auth.domains", "listen.tls.scopes: leaf"}},
	}
	for _, tt := range tests {
		_, err := tt.cfg.Check()
		if (err != nil) != (tt.errs != nil) {
			t.Errorf("%s: error %v", tt.name, err)
			continue
		}
		for _, want := range tt.errs {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %q lacks %q", tt.name, err, want)
			}
		}
	}
}

func TestConfigNotes(t *testing.T) {
	tests := []struct {
		cfg  Config
		want string // in a note; "" = no notes
	}{
		{Config{Public: []string{"anon/**"}}, ""},
		{Config{Public: []string{"anon"}}, `older spelling of "anon/**"`},
		{Config{ClientRoots: true}, "no JWT/public auth configured; only mTLS peers will be accepted"},
		{Config{KeyDir: "https://keys.example/"}, "deprecated"},
		{Config{InternalPeers: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::1/128")}}, ""},
		{Config{InternalPeers: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}}, "192.0.2.0/24 is not a private address"},
		{Config{InternalPeers: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")}}, "0.0.0.0/0 is not a private address"},
	}
	for _, tt := range tests {
		notes, err := tt.cfg.Check()
		if text := strings.Join(notes, "\n"); err != nil || (tt.want == "") != (text == "") || !strings.Contains(text, tt.want) {
			t.Errorf("notes %q, error %v, want %q", notes, err, tt.want)
		}
	}
}

func TestPublicRules(t *testing.T) {
	tests := []struct {
		rule, path string
		want       string // "" = refused
	}{
		{"anon/**", "/", ": anon/** | anon/**"},
		{"anon/**", "/anon", "anon: ** | **"},
		{"anon/**", "/rooms/1", ""},
		{"anon", "/anon/a", "anon/a: ** | **"},
		{"anon", "/anonymous", ""},
		{"", "/x", "x: ** | **"},
		{"*/lobby/**", "/rooms/1", ""}, // leading wildcard, unrelated room
		{"*-open/**", "/rooms", ""},
	}
	for _, tt := range tests {
		a := mustNew(t, Config{Public: []string{tt.rule}})
		g, err := a.Authorize(context.Background(), noon, Request{Path: tt.path})
		if tt.want == "" {
			wantRefusal(t, tt.rule+" at "+tt.path, err, 401, CodePath)
		} else if err != nil || access(g) != tt.want {
			t.Errorf("%q at %s = %q, %v, want %q", tt.rule, tt.path, access(g), err, tt.want)
		}
	}
}

func TestRoles(t *testing.T) {
	reads := Config{PublicSubscribe: []string{"**"}}
	writes := Config{PublicPublish: []string{"**"}}
	elsewhere := Config{PublicPublish: []string{"a/**"}, PublicSubscribe: []string{"**"}}
	tests := []struct {
		name string
		cfg  Config
		role Role
		ok   bool
	}{
		{"subscriber reads", reads, Subscriber, true},
		{"publisher reads", reads, Publisher, false},
		{"unstated reads", reads, "", true},
		{"publisher writes", writes, Publisher, true},
		{"subscriber writes", writes, Subscriber, false},
		{"publisher at a path where no publishing is left", elsewhere, Publisher, false},
	}
	for _, tt := range tests {
		_, err := mustNew(t, tt.cfg).Authorize(context.Background(), noon, Request{Path: "/b", Role: tt.role})
		if !tt.ok {
			wantRefusal(t, tt.name, err, 403, CodeRole)
		} else if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func TestTokenAtPath(t *testing.T) {
	k := newKey(t, "k1")
	a := mustNew(t, Config{Key: keyFileOf(t, k)})
	foo := token.Claims{Scope: token.Scope{Publish: patterns(t, "foo/**"), Subscribe: patterns(t, "foo/**")}}
	tests := []struct {
		name   string
		claims token.Claims
		path   string
		want   string // "" = refused
	}{
		{"narrowed", full("demo"), "/demo/room", "demo/room: ** | **"},
		{"equal", full("/demo/"), "demo", "demo: ** | **"},
		{"prefixed", full("demo"), "/", ": demo/** | demo/**"},
		{"unrelated", full("demo"), "/other", ""},
		{"boundary", full("demo"), "/demonstration", ""},
		{"scope below", foo, "/foo/bar", "foo/bar: ** | **"},
		{"scope boundary", foo, "/foobar", ""},
		{"one direction left", token.Claims{Scope: token.Scope{Publish: patterns(t, "a/**"), Subscribe: patterns(t, "b/**")}}, "/a", "a: ** | "},
	}
	for _, tt := range tests {
		g, err := a.Authorize(context.Background(), noon, Request{Path: tt.path, Query: "jwt=" + sign(t, k, tt.claims)})
		if tt.want == "" {
			wantRefusal(t, tt.name, err, 401, CodePath)
		} else if err != nil || access(g) != tt.want {
			t.Errorf("%s = %q, %v, want %q", tt.name, access(g), err, tt.want)
		}
	}
}

func TestTokenGrantDetails(t *testing.T) {
	k := newKey(t, "k1")
	a := mustNew(t, Config{Key: keyFileOf(t, k)})
	c := full("demo")
	c.Expires, c.ID, c.Subject, c.Cluster = noon.Add(2*time.Second), "tok_1", "viewer", true
	got, err := a.Authorize(context.Background(), noon, Request{Path: "demo", Token: sign(t, k, c)})
	if err != nil {
		t.Fatal(err)
	}
	want := Grant{
		Root: "demo", Publish: patterns(t, "**"), Subscribe: patterns(t, "**"), Expires: noon.Add(2 * time.Second),
		Peer: true, Subject: "token of k1", TokenID: "tok_1", Holder: "viewer",
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b token.Pattern) bool { return a == b })); diff != "" {
		t.Errorf("grant (-want +got):\n%s", diff)
	}
}

func TestWhereTheTokenIs(t *testing.T) {
	k := newKey(t, "k1")
	a := mustNew(t, Config{Key: keyFileOf(t, k), Public: []string{"pub/**"}})
	good, other := sign(t, k, full("")), sign(t, k, full("x"))
	tests := []struct {
		name string
		r    Request
		code string // "" = admitted
	}{
		{"URL", Request{Query: "a=b&jwt=" + good}, ""},
		{"last that is not empty", Request{Query: "jwt=x&jwt=" + good + "&jwt="}, ""},
		{"SETUP", Request{Query: "jwt=", Token: good}, ""},
		{"both the same", Request{Query: "jwt=" + good, Token: good}, ""},
		{"both, different", Request{Query: "jwt=" + good, Token: other}, CodeTwoTokens},
		{"a bad pair beside it", Request{Query: "%zz&jwt=" + good}, ""},
		{"none, public path", Request{Path: "pub"}, ""},
		{"none, other path", Request{Path: "x"}, CodePath},
		{"bad token on a public path", Request{Path: "pub", Query: "jwt=bad"}, string(token.Malformed)},
	}
	for _, tt := range tests {
		_, err := a.Authorize(context.Background(), noon, tt.r)
		if tt.code != "" {
			wantRefusal(t, tt.name, err, 401, tt.code)
		} else if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func TestNoKeyForTheToken(t *testing.T) {
	signed := sign(t, newKey(t, "k"), full(""))
	_, err := mustNew(t, Config{Public: []string{"**"}}).Authorize(context.Background(), noon, Request{Token: signed})
	wantRefusal(t, "public only", err, 401, CodeTokenUnasked)
	_, err = mustNew(t, Config{ClientRoots: true}).Authorize(context.Background(), noon, Request{Token: signed})
	wantRefusal(t, "certificates only", err, 401, string(token.UnknownKey))
	_, err = mustNew(t, Config{ClientRoots: true}).Authorize(context.Background(), noon, Request{})
	wantRefusal(t, "nothing presented", err, 401, CodeNoCredential)
}

func TestRequireExp(t *testing.T) {
	k := newKey(t, "k")
	a := mustNew(t, Config{Key: keyFileOf(t, k), RequireExp: true})
	_, err := a.Authorize(context.Background(), noon, Request{Token: sign(t, k, full(""))})
	wantRefusal(t, "no exp", err, 401, string(token.NoExpiry))
	c := full("")
	c.Expires = noon.Add(time.Second)
	if _, err := a.Authorize(context.Background(), noon, Request{Token: sign(t, k, c)}); err != nil {
		t.Errorf("with exp: %v", err)
	}
	_, err = a.Authorize(context.Background(), noon.Add(time.Second), Request{Token: sign(t, k, c)})
	wantRefusal(t, "at exp", err, 401, string(token.Expired))
}

func TestCertificates(t *testing.T) {
	leaf := func(name string) *x509.Certificate {
		return &x509.Certificate{DNSNames: []string{name}, NotAfter: noon.Add(time.Hour)}
	}
	a := mustNew(t, Config{ClientRoots: true, MTLSTier: "internal", Scopes: map[string][]string{"leaf-a": {"a/**"}, "leaf-none": {}}})
	tests := []struct {
		name string
		cert *x509.Certificate
		path string
		want string // "" = refused
	}{
		{"full", leaf("edge"), "/", ": ** | **"},
		{"below the dialled path", leaf("edge"), "/b", "b: ** | **"},
		{"narrowed, inside", leaf("leaf-a"), "/a", "a: ** | **"},
		{"narrowed, from the root", leaf("leaf-a"), "/", ": a/** | a/**"},
		{"narrowed, outside", leaf("leaf-a"), "/b", ""},
		{"narrowed to nothing", leaf("leaf-none"), "/", ""},
	}
	for _, tt := range tests {
		g, err := a.Authorize(context.Background(), noon, Request{Path: tt.path, Certificate: tt.cert})
		if tt.want == "" {
			wantRefusal(t, tt.name, err, 401, CodePath)
			continue
		}
		if err != nil || access(g) != tt.want || !g.Peer || g.Tier != "internal" || !g.Expires.Equal(noon.Add(time.Hour)) {
			t.Errorf("%s = %q %+v, %v, want %q", tt.name, access(g), g, err, tt.want)
		}
	}
	_, err := a.Authorize(context.Background(), noon.Add(time.Hour), Request{Certificate: leaf("edge")})
	wantRefusal(t, "ended", err, 401, CodeCertificate)
}

func TestCertificateName(t *testing.T) {
	for want, leaf := range map[string]*x509.Certificate{
		"a.example": {DNSNames: []string{"a.example", "b.example"}, Subject: pkix.Name{CommonName: "c"}},
		"c":         {Subject: pkix.Name{CommonName: "c"}},
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855": {},
	} {
		if got := certificateName(leaf); got != want {
			t.Errorf("name %q, want %q", got, want)
		}
	}
}

func TestPeers(t *testing.T) {
	k := newKey(t, "k")
	own := sign(t, k, full("cluster"))
	a := mustNew(t, Config{
		Key: keyFileOf(t, k), ClusterToken: own,
		InternalPeers: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("fd00::/8")},
	})
	cluster := full("")
	cluster.Cluster = true
	tests := []struct {
		name string
		r    Request
		peer bool
		root string
	}{
		{"viewer", Request{Token: sign(t, k, full("x"))}, false, ": x/** | x/**"},
		{"our cluster token keeps its scope", Request{Token: own}, true, ": cluster/** | cluster/**"},
		{"cluster claim", Request{Token: sign(t, k, cluster)}, true, ": ** | **"},
		{"internal address", Request{Path: "/a", Remote: netip.MustParseAddrPort("10.1.2.3:4")}, true, "a: ** | **"},
		{"internal address, mapped", Request{Remote: netip.MustParseAddrPort("[::ffff:10.1.2.3]:4")}, true, ": ** | **"},
		{"internal address, zone", Request{Remote: netip.MustParseAddrPort("[fd00::1%eth0]:4")}, true, ": ** | **"},
	}
	for _, tt := range tests {
		g, err := a.Authorize(context.Background(), noon, tt.r)
		if err != nil || g.Peer != tt.peer || access(g) != tt.root {
			t.Errorf("%s: peer %v %q, %v", tt.name, g.Peer, access(g), err)
		}
	}
	_, err := a.Authorize(context.Background(), noon, Request{Remote: netip.MustParseAddrPort("10.2.0.1:4")})
	wantRefusal(t, "other address", err, 401, CodeNoCredential)

	// A cluster token that no key verifies is worth nothing.
	forged := sign(t, newKey(t, "k"), full(""))
	a = mustNew(t, Config{Key: keyFileOf(t, k), ClusterToken: forged})
	_, err = a.Authorize(context.Background(), noon, Request{Token: forged})
	wantRefusal(t, "unverified cluster token", err, 401, string(token.Signature))
}

func TestDomains(t *testing.T) {
	domains := sortDomains([]string{"example", "CDN.example."})
	for name, want := range map[string]string{
		"":                        "",
		"cdn.example":             "",
		"a.cdn.example":           "a",
		"A.b.CDN.example.":        "b/a",
		"x.example":               "x",
		"xcdn.example":            "xcdn",
		"other.test":              "",
		"a..cdn.example":          "/a",
		"cdn.example.other":       "",
		"cdn.example.cdn.example": "example/cdn",
	} {
		if got := domainPath(name, domains); got != want {
			t.Errorf("%q gives %q, want %q", name, got, want)
		}
	}
	a := mustNew(t, Config{Public: []string{"**"}, Domains: []string{"cdn.example"}})
	g, err := a.Authorize(context.Background(), noon, Request{Path: "/room", ServerName: "b..a.cdn.example"})
	if err != nil || g.Root != "a/b/room" {
		t.Errorf("root %q, %v", g.Root, err)
	}
}

// Neither logs nor refusals show a token, and each kind has its own code.
func TestRefusalsHideTheToken(t *testing.T) {
	k := newKey(t, "k")
	var log bytes.Buffer
	var codes []string
	a := mustNew(t, Config{
		Key: keyFileOf(t, k), Log: slog.New(slog.NewTextHandler(&log, nil)),
		OnRefusal: func(code string) { codes = append(codes, code) },
	})
	expired := full("")
	expired.Expires = noon.Add(-time.Hour)
	early := full("")
	early.NotBefore = noon.Add(time.Hour)
	enc := base64.RawURLEncoding.EncodeToString
	tokens := []struct{ token, code string }{
		{sign(t, k, expired), "token-expired"},
		{sign(t, k, early), "token-not-yet"},
		{sign(t, newKey(t, "k"), full("")), "token-signature"},
		{enc([]byte(`{"alg":"none","kid":"k"}`)) + "." + enc([]byte(`{"put":""}`)) + ".", "token-alg"},
		{"secretsecret", "token-malformed"},
		{sign(t, k, full("elsewhere")), "path-not-covered"},
	}
	_, err := a.Authorize(context.Background(), noon, Request{Path: "/p", Query: "jwt=" + tokens[5].token})
	if want := `token of k with root "elsewhere": nothing is granted at "p"`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("refusal %v, want %q in it", err, want)
	}
	codes = nil
	for _, tt := range tokens {
		_, err := a.Authorize(context.Background(), noon, Request{Path: "/p", Query: "jwt=" + tt.token})
		wantRefusal(t, tt.code, err, 401, tt.code)
		for part := range strings.SplitSeq(tt.token, ".") {
			if part != "" && strings.Contains(err.Error()+log.String(), part) {
				t.Errorf("%s shows the token: %v\n%s", tt.code, err, log.String())
			}
		}
	}
	if len(codes) != len(tokens) || codes[0] != "token-expired" {
		t.Errorf("told of %q", codes)
	}
}
