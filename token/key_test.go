package token

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

const secret32 = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"

func TestParseKey(t *testing.T) {
	tests := []struct{ name, jwk, alg string }{
		{"secret", `{"kty":"oct","alg":"HS256","k":"` + secret32 + `","kid":"a_-9"}`, "HS256"},
		{"no alg needed", `{"kty":"OKP","crv":"Ed25519","x":"xr8Osb5hWOi6IVABc2VmnIcq6FubJAIwkg4McU6cmpk"}`, "EdDSA"},
		{"unknown members", `{"kty":"oct","alg":"HS512","k":"` + secret32 + `","x5t":"?","ext":true}`, "HS512"},
		{"scope, old dialect", `{"kty":"oct","alg":"HS256","k":"` + secret32 + `","scope":{"root":"a","put":"b"}}`, "HS256"},
		{"scope, new dialect", `{"kty":"oct","alg":"HS256","k":"` + secret32 + `","scope":{"publish":["b/*"]}}`, "HS256"},
		{"padded base64 outside", "eyJrdHkiOiJvY3QiLCJhbGciOiJIUzI1NiIsImsiOiJBQUVDQXdRRkJnY0lDUW9MREEwT0R4QVJFaE1VRlJZWEdCa2FHeHdkSGg4In0=\n", "HS256"},
	}
	for _, tt := range tests {
		k, err := ParseKey([]byte(tt.jwk))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		} else if k.Algorithm() != tt.alg {
			t.Errorf("%s: alg %s, want %s", tt.name, k.Algorithm(), tt.alg)
		}
	}
}

func TestParseKeyRefuses(t *testing.T) {
	const ec = `"kty":"EC","crv":"P-256","x":"aRMiciWgtqdSQatHvFz7rQN-eqJurwLpAjfuR7eNXlw","y":"O2mURnJ_4MggBWrmbr9O_XyM-Zfn1dobHX_5pF0sASI"`
	tests := []struct{ name, jwk string }{
		{"empty", ""},
		{"text", "hello world"},
		{"array", "[]"},
		{"short secret", `{"kty":"oct","alg":"HS256","k":"AAECAw"}`},
		{"secret without alg", `{"kty":"oct","k":"` + secret32 + `"}`},
		{"alg of another kind", `{"kty":"oct","alg":"RS256","k":"` + secret32 + `"}`},
		{"none", `{"kty":"oct","alg":"none","k":"` + secret32 + `"}`},
		{"kid with a slash", `{"kty":"oct","alg":"HS256","k":"` + secret32 + `","kid":"../a"}`},
		{"empty key_ops", `{"kty":"oct","alg":"HS256","k":"` + secret32 + `","key_ops":[]}`},
		{"for encryption", `{"kty":"oct","alg":"HS256","k":"` + secret32 + `","use":"enc"}`},
		{"scope grants nothing", `{"kty":"oct","alg":"HS256","k":"` + secret32 + `","scope":{}}`},
		{"scope has a stranger", `{"kty":"oct","alg":"HS256","k":"` + secret32 + `","scope":{"put":"a","exp":1}}`},
		{"member twice", `{"kty":"oct","alg":"HS256","k":"` + secret32 + `","alg":"HS512"}`},
		{"curve and alg differ", `{"alg":"ES384",` + ec + `}`},
		{"point off the curve", `{"alg":"ES256","kty":"EC","crv":"P-256","x":"AAAA","y":"AAAA"}`},
		{"halves of two keys", `{"alg":"ES256",` + ec + `,"d":"AQ"}`},
		{"halves of two Ed25519 keys", `{"kty":"OKP","crv":"Ed25519","x":"xr8Osb5hWOi6IVABc2VmnIcq6FubJAIwkg4McU6cmpk","d":"` + secret32 + `"}`},
		{"X25519", `{"kty":"OKP","crv":"X25519","x":"` + secret32 + `"}`},
		{"small RSA", `{"kty":"RSA","alg":"RS256","n":"` + secret32 + `","e":"AQAB"}`},
		{"huge", strings.Repeat(" ", MaxKeyBytes+1)},
	}
	for _, tt := range tests {
		if k, err := ParseKey([]byte(tt.jwk)); err == nil {
			t.Errorf("%s: got %v, want an error", tt.name, k)
		} else if strings.Contains(err.Error(), secret32) {
			t.Errorf("%s: the error shows the secret: %v", tt.name, err)
		}
	}
}

func TestKeyDoesNotPrintItsSecret(t *testing.T) {
	k, err := ParseKey([]byte(`{"kty":"oct","alg":"HS256","k":"` + secret32 + `","kid":"aa"}`))
	if err != nil {
		t.Fatal(err)
	}
	asJSON, err := json.Marshal(k)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{fmt.Sprint(k), fmt.Sprintf("%+v", k), fmt.Sprintf("%#v", k), string(asJSON)} {
		if strings.Contains(text, secret32) || strings.Contains(text, "1, 2, 3") || strings.Contains(text, "1 2 3") {
			t.Errorf("secret shown: %s", text)
		}
	}
}

func TestKeySetChoice(t *testing.T) {
	a, b := mustKey(t, "EdDSA", "a"), mustKey(t, "EdDSA", "b")
	lone, err := ParseKeySet(a.JSON())
	if err != nil {
		t.Fatal(err)
	}
	setOf := func(keys ...*Key) *KeySet {
		var objects []string
		for _, k := range keys {
			objects = append(objects, string(k.JSON()))
		}
		foreign := `{"kty":"OKP","crv":"X448","x":"AA"}`
		s, err := ParseKeySet([]byte(`{"rev":3,"keys":[` + foreign + `,` + strings.Join(objects, ",") + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	tests := []struct {
		name string
		set  *KeySet
		kid  string // of a token signed by a
		code Code   // "" = accepted
	}{
		{"lone key, no kid", lone, "", ""},
		{"lone key, its kid", lone, "a", ""},
		{"lone key, another kid", lone, "b", ""},
		{"set of one, no kid", setOf(a), "", ""},
		{"set of one, another kid", setOf(a), "b", UnknownKey},
		{"set of two, its kid", setOf(b, a), "a", ""},
		{"set of two, the other kid", setOf(b, a), "b", Signature},
		{"set of two, no kid", setOf(b, a), "", UnknownKey},
	}
	for _, tt := range tests {
		header := `{"alg":"EdDSA"}`
		if tt.kid != "" {
			header = `{"alg":"EdDSA","kid":"` + tt.kid + `"}`
		}
		_, err := tt.set.Verify(noon, signRaw(t, a, header, `{"put":""}`))
		if tt.code == "" && err != nil {
			t.Errorf("%s: %v", tt.name, err)
		} else if tt.code != "" {
			wantCode(t, tt.name, err, tt.code)
		}
	}
}

func TestKeySetRefuses(t *testing.T) {
	k := string(mustKey(t, "EdDSA", "a").JSON())
	for _, doc := range []string{
		`{"keys":[]}`, `{"keys":null}`, `{"keys":{}}`, `{"keys":[` + k + `,` + k + `]}`,
		`{"keys":[{"kty":"OKP","crv":"X448","x":"AA"}]}`, `{"keys":[{"kty":"oct","alg":"HS256","k":"AA"}]}`,
	} {
		if _, err := ParseKeySet([]byte(doc)); err == nil {
			t.Errorf("%s: want an error", doc)
		}
	}
}

func TestVerifyOnlyKeyOps(t *testing.T) {
	k, err := ParseKey([]byte(`{"kty":"oct","alg":"HS256","key_ops":["sign"],"k":"` + secret32 + `"}`))
	if err != nil {
		t.Fatal(err)
	}
	signed, err := k.Sign(Claims{Scope: Scope{Publish: Patterns{Everything}}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = mustSet(t, k).Verify(noon, signed)
	wantCode(t, "a key for signing only", err, UnknownKey)
}

// FuzzCredentials feeds the two documents that come from outside: keys and claims.
func FuzzCredentials(f *testing.F) {
	f.Add([]byte(`{"root":"a","put":"b","exp":1796040001}`))
	f.Add([]byte(`{"publish":["a/**"],"nbf":1.5,"cluster":true}`))
	f.Add([]byte(`{"kty":"oct","alg":"HS256","k":"` + secret32 + `","scope":{"get":""}}`))
	f.Add([]byte(`{"keys":[{"kty":"OKP","crv":"Ed25519","x":"xr8Osb5hWOi6IVABc2VmnIcq6FubJAIwkg4McU6cmpk"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if c, err := decodeClaims(data); err == nil {
			again, err := decodeClaims(c.encode())
			if err != nil || again.Publish.String() != c.Publish.String() || again.Subscribe.String() != c.Subscribe.String() {
				t.Errorf("claims %s came back as %s: %v", c.encode(), again.encode(), err)
			}
		}
		if k, err := ParseKey(data); err == nil {
			again, err := ParseKey([]byte(k.Encode()))
			if err != nil || string(again.JSON()) != string(k.JSON()) {
				t.Errorf("key %s came back as %v, %v", k, again, err)
			}
		}
		_, _ = ParseKeySet(data)
	})
}
