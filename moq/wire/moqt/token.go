package moqt

import (
	"fmt"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// Token is an AUTHORIZATION_TOKEN (§3.4). It is a credential: neither it nor an
// error about it is fit for a log.
type Token struct {
	Action TokenAction
	Alias  uint64 // of TokenDelete, TokenRegister and TokenUseAlias
	Type   uint64 // of TokenRegister and TokenUseValue; 0 = agreed out of band
	Value  []byte // the same; aliases the body when decoded, nil when empty
}

// TokenAction says what becomes of a token.
type TokenAction uint8

// The token actions. All but TokenUseValue need a cache of tokens, whose size
// the receiver declares in its [Setup].
const (
	TokenDelete   TokenAction = iota // forget the token of that alias
	TokenRegister                    // use the token, and keep it under that alias
	TokenUseAlias                    // use the token of that alias
	TokenUseValue                    // use the token
)

func (t Token) hasAlias() bool { return t.Action != TokenUseValue }
func (t Token) hasValue() bool { return t.Action == TokenRegister || t.Action == TokenUseValue }

func (t Token) append(b []byte, enc wire.Encoding) []byte {
	b = enc.AppendVarint(b, uint64(t.Action))
	if t.hasAlias() {
		b = enc.AppendVarint(b, t.Alias)
	}
	if t.hasValue() {
		b = append(enc.AppendVarint(b, t.Type), t.Value...)
	}
	return b
}

// token reads a token behind its length.
func (r *reader) token() Token {
	inner := r.d.reader(r.Bytes(MaxBody))
	t := readToken(inner)
	if err := inner.Close(); err != nil {
		r.Fail(fmt.Errorf("token: %w: %w", ErrPair, err))
	}
	return t
}

func readToken(r *reader) (t Token) {
	action := r.Varint()
	if action > uint64(TokenUseValue) {
		r.Fail(fmt.Errorf("action %d: %w", action, wire.ErrValue))
	}
	t.Action = TokenAction(action)
	if t.hasAlias() {
		t.Alias = r.Varint()
	}
	if t.hasValue() {
		t.Type = r.Varint()
		if r.Len() > 0 {
			t.Value = r.Rest()
		}
	}
	return t
}
