package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/moqmesh/moqmesh/token"
)

// api is the auth API: one GET for each connection, or an answer that is still
// fresh by its Cache-Control. Whatever is not a good answer refuses the
// connection; nothing stale is used.
type api struct {
	address string
	client  *http.Client

	mu    sync.Mutex // guards the rest
	cache map[string]cachedAnswer
	order []string // keys of cache, oldest first
}

// maxAnswers bounds the answers that are kept.
const maxAnswers = 100

type cachedAnswer struct {
	answer answer
	until  time.Time
}

// answer is the body of a 2xx reply. All members are optional; unknown ones are ignored.
type answer struct {
	Alias  string `json:"alias"` // the session's root instead of the dialled path
	Public struct {
		Subscribe ruleList `json:"subscribe"` // relative to the session's root
		Publish   ruleList `json:"publish"`
	} `json:"public"`
	Key  json.RawMessage `json:"key"` // JWK that verifies the session's token
	Tier string          `json:"tier"`

	keys *token.KeySet // of Key; nil = none
}

// ruleList is a rule, in either spelling, or a list of them.
type ruleList token.Patterns

func (l *ruleList) UnmarshalJSON(data []byte) error {
	var texts []string
	if json.Unmarshal(data, &texts) != nil {
		var one string
		if err := json.Unmarshal(data, &one); err != nil {
			return errors.New("a public rule is not a string or a list of strings")
		}
		texts = []string{one}
	}
	if len(texts) > token.MaxPatterns {
		return fmt.Errorf("more than %d public rules", token.MaxPatterns)
	}
	for _, text := range texts {
		p, _, err := rule(text)
		if err != nil {
			return err
		}
		*l = append(*l, p)
	}
	return nil
}

func newAPI(address string, client *http.Client) *api {
	return &api{address: address, client: client, cache: make(map[string]cachedAnswer)}
}

// ask returns what the API says of a connection.
func (a *api) ask(ctx context.Context, now time.Time, r Request, path, kid string) (answer, error) {
	address, err := a.question(r, path, kid)
	if err != nil {
		return answer{}, err
	}
	if known, ok := a.lookup(now, address); ok {
		return known, nil
	}
	rep, err := fetch(ctx, a.client, address, "")
	if err != nil {
		return answer{}, err
	}
	if rep.status < 200 || rep.status > 299 {
		return answer{}, fmt.Errorf("get %s: status %d", shown(address), rep.status)
	}
	ans, err := parseAnswer(rep.body)
	if err != nil {
		return answer{}, fmt.Errorf("get %s: %w", shown(address), err)
	}
	if rep.maxAge > 0 {
		a.store(address, cachedAnswer{ans, now.Add(min(rep.maxAge, maxAsk))})
	}
	return ans, nil
}

func (a *api) question(r Request, path, kid string) (string, error) {
	u, err := url.Parse(a.address)
	if err != nil {
		return "", errors.New("the address of the auth API is not a URL")
	}
	q := u.Query()
	q.Set("root", path)
	if kid != "" {
		q.Set("kid", kid)
	}
	if r.Certificate != nil {
		q.Set("mtls", "true")
	}
	if r.Transport != "" {
		q.Set("transport", r.Transport)
	}
	u.RawQuery = q.Encode()
	return u.String(), nil
}

func parseAnswer(body []byte) (a answer, err error) {
	if err := json.Unmarshal(body, &a); err != nil {
		return answer{}, fmt.Errorf("not an answer: %w", err)
	}
	if len(a.Key) > 0 && string(a.Key) != "null" {
		a.keys, err = token.ParseKeySet(a.Key)
	}
	return a, err
}

func (a answer) public() token.Scope {
	return token.Scope{Publish: token.Patterns(a.Public.Publish), Subscribe: token.Patterns(a.Public.Subscribe)}
}

func (a *api) lookup(now time.Time, address string) (answer, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c, ok := a.cache[address]
	return c.answer, ok && now.Before(c.until)
}

func (a *api) store(address string, c cachedAnswer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, ok := a.cache[address]; !ok {
		if len(a.order) >= maxAnswers {
			delete(a.cache, a.order[0])
			a.order = a.order[1:]
		}
		a.order = append(a.order, address)
	}
	a.cache[address] = c
}

// decideByAPI is decide where an auth API is configured. Token roots are held
// against the dialled path, whatever the alias.
func (a *Authorizer) decideByAPI(ctx context.Context, now time.Time, r Request, path, tok string) (g Grant, err error) {
	kid := ""
	if tok != "" {
		if kid, err = token.KeyID(tok); err != nil {
			return Grant{}, err
		}
	}
	ans, err := a.api.ask(ctx, now, r, path, kid)
	if err != nil {
		return Grant{}, err
	}
	switch {
	case r.Certificate != nil:
		g, err = a.certified(now, r.Certificate, path)
		g.Tier = a.cfg.MTLSTier
	case tok != "" && ans.keys != nil:
		g, err = a.tokened(ctx, now, tok, path, inlineKeys{ans.keys})
	default:
		g, err = a.public(ans.public(), "", tok) // these are relative to the session already
		g.Root = path
	}
	if ans.Alias != "" {
		g.Root = token.Clean(ans.Alias)
	}
	if ans.Tier != "" {
		g.Tier = ans.Tier
	}
	return g, err
}
