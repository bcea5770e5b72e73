package token

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func mustKey(t testing.TB, alg, id string) *Key {
	t.Helper()
	k, err := GenerateKey(alg, id, nil)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func mustSet(t testing.TB, keys ...*Key) *KeySet {
	t.Helper()
	s, err := NewKeySet(keys...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// signRaw makes a token of any claims, as a careless issuer would.
func signRaw(t testing.TB, k *Key, header, claims string) string {
	t.Helper()
	enc := base64.RawURLEncoding.EncodeToString
	text := enc([]byte(header)) + "." + enc([]byte(claims))
	sig, err := method(k.alg).Sign(text, k.value)
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + enc(sig)
}

func wantCode(t *testing.T, what string, err error, want Code) {
	t.Helper()
	var te *Error
	if !errors.As(err, &te) || te.Code != want {
		t.Errorf("%s: %v, want code %s", what, err, want)
	}
}

var comparePatterns = cmp.Comparer(func(a, b Pattern) bool { return a == b })

func TestSignVerifyEveryAlgorithm(t *testing.T) {
	want := Claims{
		Scope:     Scope{Root: "demo", Publish: mustPatterns(t, "cam/**"), Subscribe: mustPatterns(t, "**")},
		Expires:   noon.Add(time.Minute),
		IssuedAt:  noon,
		NotBefore: noon,
		ID:        "tok_1", Subject: "viewer_1", Cluster: true,
	}
	for alg := range algorithms {
		t.Run(alg, func(t *testing.T) {
			private := mustKey(t, alg, "")
			signed, err := private.Sign(want)
			if err != nil {
				t.Fatal(err)
			}
			verifier := private
			if public, err := private.Public(); err == nil {
				verifier = public
			} else if !strings.HasPrefix(alg, "HS") {
				t.Fatal(err)
			}
			reread, err := ParseKeySet([]byte(verifier.Encode()))
			if err != nil {
				t.Fatal(err)
			}
			got, err := reread.Verify(noon, signed)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, comparePatterns, cmp.Transformer("utc", time.Time.UTC)); diff != "" {
				t.Errorf("claims (-want +got):\n%s", diff)
			}
			if verifier != private {
				if _, err := verifier.Sign(want); err == nil {
					t.Error("a public key signed")
				}
			}
		})
	}
}

func TestClaimsDialects(t *testing.T) {
	k := mustKey(t, "HS256", "")
	tests := []struct {
		claims          string
		root, pub, subs string
	}{
		{`{"put":"a"}`, "", "a/**", ""},
		{`{"root":"/demo/","put":[""],"get":["a","b/"]}`, "demo", "**", "a/** b/**"},
		{`{"get":"","put":[]}`, "", "", "**"},
		{`{"publish":["a"],"subscribe":["b/*","**"],"root":"x"}`, "x", "a", "b/* **"},
		{`{"put":"a","jti":5,"sub":null,"iss":["z"]}`, "", "a/**", ""},
		{`{"put":"/a//b/","exp":1796040001.5}`, "", "a/b/**", ""},
	}
	for _, tt := range tests {
		c, err := mustSet(t, k).Verify(noon, signRaw(t, k, `{"alg":"HS256"}`, tt.claims))
		if err != nil {
			t.Errorf("%s: %v", tt.claims, err)
		} else if c.Root != tt.root || c.Publish.String() != tt.pub || c.Subscribe.String() != tt.subs {
			t.Errorf("%s = root %q publish %q subscribe %q", tt.claims, c.Root, c.Publish, c.Subscribe)
		}
	}
}

func TestClaimsRefused(t *testing.T) {
	k := mustKey(t, "HS256", "")
	at := func(d time.Duration) int64 { return noon.Add(d).Unix() }
	tests := []struct {
		claims string
		code   Code
	}{
		{`{}`, NoRights},
		{`{"put":[],"get":[]}`, NoRights},
		{`{"publish":[]}`, NoRights},
		{`{"put":"a","publish":["b"]}`, BadClaims},
		{`{"subscribe":["a"],"get":"b"}`, BadClaims},
		{`{"put":"a","aud":"x"}`, BadClaims},
		{`{"put":"a","admin":true}`, BadClaims},
		{`{"put":null,"get":"a"}`, Malformed},
		{`{"put":"a","get":null}`, Malformed},
		{`{"put":["a",null]}`, Malformed},
		{`{"put":"a","exp":null}`, Malformed},
		{`{"put":"a","root":null}`, Malformed},
		{`{"put":"a","cluster":"yes"}`, Malformed},
		{`{"put":"a","put":"b"}`, Malformed},
		{`{"publish":"b"}`, Malformed},
		{`{"publish":["/a/**"]}`, Malformed},
		{`{"put":"a*"}`, Malformed},
		{`{"put":"a","exp":"1"}`, Malformed},
		{`{"put":"a","exp":1e20}`, Malformed},
		{`{"root":"a*","put":"b"}`, NoRights},
		{`[]`, Malformed},
		{`null`, Malformed},
		{`{"put":"a"`, Malformed},
		{fmt.Sprintf(`{"put":"a","exp":%d}`, at(0)), Expired}, // exp <= now, no leeway
		{`{"put":"a","exp":-1}`, Expired},
		{fmt.Sprintf(`{"put":"a","nbf":%d}`, at(6*time.Second)), NotYet},
		{fmt.Sprintf(`{"put":"a","iat":%d}`, at(6*time.Second)), NotYet},
	}
	for _, tt := range tests {
		_, err := mustSet(t, k).Verify(noon, signRaw(t, k, `{"alg":"HS256"}`, tt.claims))
		wantCode(t, tt.claims, err, tt.code)
	}
}

func TestClaimsTolerance(t *testing.T) {
	c := Claims{Expires: noon.Add(time.Nanosecond), NotBefore: noon.Add(Leeway), IssuedAt: noon.Add(Leeway)}
	if err := c.CheckTime(noon); err != nil {
		t.Error(err)
	}
	wantCode(t, "absent exp", Claims{}.RequireExpiry(), NoExpiry)
}

// A token may never choose how it is verified.
func TestAlgorithmConfusion(t *testing.T) {
	const claims = `{"put":""}`
	rsa, ec, ed, secret := mustKey(t, "RS256", "r"), mustKey(t, "ES256", "e"), mustKey(t, "EdDSA", "d"), mustKey(t, "HS256", "s")
	all := mustSet(t, rsa, ec, ed, secret)

	der, err := x509.MarshalPKIXPublicKey(publicOf(rsa.value))
	if err != nil {
		t.Fatal(err)
	}
	hs := func(kid string, secret []byte) string {
		enc := base64.RawURLEncoding.EncodeToString
		text := enc([]byte(`{"alg":"HS256","kid":"`+kid+`"}`)) + "." + enc([]byte(claims))
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(text))
		return text + "." + enc(mac.Sum(nil))
	}
	none := func(alg string) string {
		enc := base64.RawURLEncoding.EncodeToString
		return enc([]byte(`{"alg":"`+alg+`","kid":"r"}`)) + "." + enc([]byte(claims)) + "."
	}
	ps := &Key{alg: "PS256", value: rsa.value}
	tests := []struct {
		name, token string
		code        Code
	}{
		{"none", none("none"), Algorithm},
		{"None", none("None"), Algorithm},
		{"empty alg", none(""), Algorithm},
		{"HS256 with the RSA public key in DER", hs("r", der), Algorithm},
		{"HS256 with the RSA public key in PEM", hs("r", pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})), Algorithm},
		{"HS256 with the Ed25519 public key", hs("d", publicOf(ed.value).(ed25519.PublicKey)), Algorithm},
		{"PS256 with an RS256 key", signRaw(t, ps, `{"alg":"PS256","kid":"r"}`, claims), Algorithm},
		{"ES256 header, EdDSA key", signRaw(t, ec, `{"alg":"ES256","kid":"d"}`, claims), Algorithm},
		{"another key's kid", signRaw(t, mustKey(t, "ES256", ""), `{"alg":"ES256","kid":"e"}`, claims), Signature},
		{"unknown kid", signRaw(t, ec, `{"alg":"ES256","kid":"x"}`, claims), UnknownKey},
		{"no kid, several keys", signRaw(t, ec, `{"alg":"ES256"}`, claims), UnknownKey},
		{"kid with a slash", signRaw(t, ec, `{"alg":"ES256","kid":"../e"}`, claims), Malformed},
		{"crit", signRaw(t, ec, `{"alg":"ES256","kid":"e","crit":["b64"],"b64":false}`, claims), Malformed},
		{"stripped signature", strings.TrimRight(signRaw(t, ec, `{"alg":"ES256","kid":"e"}`, claims), "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"), Signature},
		{"two dots missing", "abc", Malformed},
		{"too long", strings.Repeat("a", MaxBytes+1), Malformed},
	}
	for _, tt := range tests {
		_, err := all.Verify(noon, tt.token)
		wantCode(t, tt.name, err, tt.code)
	}
	if _, err := all.Verify(noon, hs("s", secret.value.([]byte))); err != nil {
		t.Errorf("the honest HS256 token: %v", err)
	}
}

func TestErrorsHideTheToken(t *testing.T) {
	k := mustKey(t, "HS256", "")
	for _, claims := range []string{`{"put":"a","exp":1}`, `{"put":null}`, `{"x":1}`, `{}`} {
		signed := signRaw(t, k, `{"alg":"HS256"}`, claims)
		for _, tok := range []string{signed, signed[:len(signed)-3] + "AAA"} {
			_, err := mustSet(t, k).Verify(noon, tok)
			for part := range strings.SplitSeq(tok, ".") {
				if err == nil || strings.Contains(err.Error(), part) {
					t.Errorf("claims %s: error %v shows the token", claims, err)
				}
			}
		}
	}
}

func TestKeyScopeIsACeiling(t *testing.T) {
	ceiling := Scope{Root: "demo", Publish: mustPatterns(t, "cam/**"), Subscribe: mustPatterns(t, "**")}
	k, err := GenerateKey("EdDSA", "k", &ceiling)
	if err != nil {
		t.Fatal(err)
	}
	free := &Key{id: k.id, alg: k.alg, ops: k.ops, value: k.value}
	tests := []struct {
		name  string
		scope Scope
		ok    bool
	}{
		{"equal", ceiling, true},
		{"below", Scope{Root: "demo/cam/1", Publish: mustPatterns(t, "**")}, true},
		{"spelled from the root", Scope{Subscribe: mustPatterns(t, "demo/*/x")}, true},
		{"publish wider", Scope{Root: "demo", Publish: mustPatterns(t, "**")}, false},
		{"one of two wider", Scope{Root: "demo", Publish: mustPatterns(t, "cam/a", "mic")}, false},
		{"other root", Scope{Root: "demo2", Subscribe: mustPatterns(t, "**")}, false},
		{"everything", Scope{Subscribe: mustPatterns(t, "**")}, false},
	}
	for _, tt := range tests {
		_, signErr := k.Sign(Claims{Scope: tt.scope})
		signed, err := free.Sign(Claims{Scope: tt.scope})
		if err != nil {
			t.Fatal(err)
		}
		_, verifyErr := mustSet(t, k).Verify(noon, signed)
		for _, err := range []error{signErr, verifyErr} {
			if tt.ok && err != nil {
				t.Errorf("%s: %v", tt.name, err)
			} else if !tt.ok {
				wantCode(t, tt.name, err, AboveKey)
			}
		}
	}
}

func TestScopeAt(t *testing.T) {
	s := Scope{Root: "demo", Publish: mustPatterns(t, "**"), Subscribe: mustPatterns(t, "cam/**")}
	tests := []struct{ path, publish, subscribe string }{
		{"/demo", "**", "cam/**"},
		{"/demo/room", "**", ""},
		{"/demo/cam/1", "**", "**"},
		{"/", "demo/**", "demo/cam/**"},
		{"/other", "", ""},
		{"/demonstration", "", ""},
	}
	for _, tt := range tests {
		got := s.At(tt.path)
		if got.Publish.String() != tt.publish || got.Subscribe.String() != tt.subscribe {
			t.Errorf("at %s: publish %q subscribe %q, want %q %q", tt.path, got.Publish, got.Subscribe, tt.publish, tt.subscribe)
		}
	}
}
