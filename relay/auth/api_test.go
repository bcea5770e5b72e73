package auth

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/moqmesh/moqmesh/token"
)

func b64(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }

// apiServer answers every question with the same status and body.
func apiServer(t *testing.T, status int, body string, header ...string) (url string, questions func() []string) {
	asked := make(chan string, 1000)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.RawQuery
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/auth?tenant=1", func() (all []string) {
		for len(asked) > 0 {
			all = append(all, <-asked)
		}
		return all
	}
}

func TestAPIGrants(t *testing.T) {
	k := newKey(t, "k1")
	public, err := k.Public()
	if err != nil {
		t.Fatal(err)
	}
	withKey := `{"alias":"tn_1","tier":"gold","key":` + string(public.JSON()) + `}`
	leaf := &x509.Certificate{DNSNames: []string{"edge"}, NotAfter: noon.Add(time.Hour)}
	tests := []struct {
		name     string
		body     string
		r        Request
		question string
		want     string
		tier     string
	}{
		{"public", `{"public":{"subscribe":["cam"],"publish":[]}}`, Request{Path: "/room", Transport: "quic"},
			"root=room&tenant=1&transport=quic", "room:  | cam/**", ""},
		{"public under an alias", `{"alias":"/tn_1/","public":{"subscribe":"","publish":"a/*"},"tier":"free"}`, Request{Path: "room"},
			"root=room&tenant=1", "tn_1: a/* | **", "free"},
		{"token held against the dialled path", withKey, Request{Path: "demo/room", Token: sign(t, k, full("demo"))},
			"kid=k1&root=demo%2Froom&tenant=1", "tn_1: ** | **", "gold"},
		{"certificate", `{"tier":"gold"}`, Request{Path: "x", Certificate: leaf},
			"mtls=true&root=x&tenant=1", "x: ** | **", "gold"},
		{"certificate, no tier", `{}`, Request{Path: "x", Certificate: leaf},
			"mtls=true&root=x&tenant=1", "x: ** | **", "mtls"},
	}
	for _, tt := range tests {
		url, questions := apiServer(t, 200, tt.body)
		a := mustNew(t, Config{API: url, ClientRoots: true, MTLSTier: "mtls"})
		g, err := a.Authorize(context.Background(), noon, tt.r)
		if err != nil || access(g) != tt.want || g.Tier != tt.tier {
			t.Errorf("%s = %q tier %q, %v, want %q tier %q", tt.name, access(g), g.Tier, err, tt.want, tt.tier)
		}
		if asked := questions(); len(asked) != 1 || asked[0] != tt.question {
			t.Errorf("%s: asked %q, want %q", tt.name, asked, tt.question)
		}
	}
}

func TestAPIRefusals(t *testing.T) {
	k := newKey(t, "k1")
	signed := sign(t, k, full("demo"))
	leaf := &x509.Certificate{NotAfter: noon.Add(time.Hour)}
	tests := []struct {
		name   string
		status int
		body   string
		r      Request
		want   int
		code   string
	}{
		{"error status", 500, `{}`, Request{}, 502, CodeUpstream},
		{"not found", 404, `{"public":{"subscribe":""}}`, Request{}, 502, CodeUpstream},
		{"not JSON", 200, `hello`, Request{}, 502, CodeUpstream},
		{"bad rule", 200, `{"public":{"subscribe":["a/***"]}}`, Request{}, 502, CodeUpstream},
		{"bad key", 200, `{"key":{"kty":"oct"}}`, Request{Token: signed}, 502, CodeUpstream},
		{"too long", 200, `{"tier":"` + strings.Repeat("a", token.MaxKeyBytes) + `"}`, Request{}, 502, CodeUpstream},
		{"certificate is no way around", 500, `{}`, Request{Certificate: leaf}, 502, CodeUpstream},
		{"nothing public", 200, `{}`, Request{}, 401, CodeNoCredential},
		{"token without a key", 200, `{}`, Request{Token: signed}, 401, string(token.UnknownKey)},
		{"token to public rules", 200, `{"public":{"subscribe":""}}`, Request{Token: signed}, 401, CodeTokenUnasked},
		{"token's root is the alias, not the path", 200, `{"alias":"demo","key":` + string(k.JSON()) + `}`, Request{Path: "room", Token: signed}, 401, CodePath},
	}
	for _, tt := range tests {
		url, _ := apiServer(t, tt.status, tt.body)
		_, err := mustNew(t, Config{API: url, ClientRoots: true}).Authorize(context.Background(), noon, tt.r)
		wantRefusal(t, tt.name, err, tt.want, tt.code)
		if strings.Contains(err.Error(), "tenant") {
			t.Errorf("%s: the refusal shows the query: %v", tt.name, err)
		}
	}
	gone := httptest.NewServer(nil)
	gone.Close()
	_, err := mustNew(t, Config{API: gone.URL + "/?tenant=1"}).Authorize(context.Background(), noon, Request{})
	wantRefusal(t, "server gone", err, 502, CodeUpstream)
	if strings.Contains(err.Error(), "tenant") {
		t.Errorf("the refusal shows the query: %v", err)
	}
}

func TestAPICache(t *testing.T) {
	url, questions := apiServer(t, 200, `{"public":{"subscribe":""}}`, "Cache-Control", "max-age=60", "Age", "20")
	a := mustNew(t, Config{API: url})
	ask := func(at time.Duration, path string) {
		t.Helper()
		if _, err := a.Authorize(context.Background(), noon.Add(at), Request{Path: path}); err != nil {
			t.Fatal(err)
		}
	}
	ask(0, "a")
	ask(39*time.Second, "a")
	if n := len(questions()); n != 1 {
		t.Errorf("%d questions within the lifetime, want 1", n)
	}
	ask(40*time.Second, "a")
	if n := len(questions()); n != 1 {
		t.Errorf("%d questions after it, want 1", n)
	}
	for i := range 3 * maxAnswers {
		ask(40*time.Second, fmt.Sprint(i))
	}
	if n := len(a.api.cache); n != maxAnswers {
		t.Errorf("%d answers are kept, want %d", n, maxAnswers)
	}
	url, questions = apiServer(t, 200, `{"public":{"subscribe":""}}`)
	a = mustNew(t, Config{API: url})
	ask(0, "a")
	ask(0, "a")
	if n := len(questions()); n != 2 {
		t.Errorf("%d questions without Cache-Control, want one for each connection", n)
	}
}
