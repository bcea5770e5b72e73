package lite

import (
	"fmt"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// SubscribeAnswer says which answer a message on a subscribe stream is (§8.3).
// Its values are ours: the wire numbers the answers differently by version.
type SubscribeAnswer uint8

// The answers.
const (
	AnswerOK    SubscribeAnswer = iota + 1 // [SubscribeOK]; up to 04
	AnswerStart                            // [SubscribeStart]; 05 and later
	AnswerEnd                              // [SubscribeEnd]; 05 and later
	AnswerDrop                             // [SubscribeDrop]; 03 to 06
)

// answers returns the answers of a version by their type on the wire.
func (v Version) answers() []SubscribeAnswer {
	switch {
	case v >= V07WIP:
		return []SubscribeAnswer{AnswerStart, AnswerEnd}
	case v >= V05:
		return []SubscribeAnswer{AnswerStart, AnswerEnd, AnswerDrop}
	default:
		return []SubscribeAnswer{AnswerOK, AnswerDrop}
	}
}

// ReadSubscribeAnswer reads the next answer of a subscribe stream. A type the
// version does not have is wire.ErrValue, which fails the track. io.EOF is the
// publisher's FIN. For buf see [wire.ReadMessage].
func ReadSubscribeAnswer(r wire.ByteReader, v Version, buf []byte) (SubscribeAnswer, []byte, error) {
	if !v.typedAnswers() {
		body, err := ReadBody(r, v, buf)
		return AnswerOK, body, err
	}
	n, err := readType(r, v)
	if err != nil {
		return 0, nil, err
	}
	answers := v.answers()
	if n >= uint64(len(answers)) {
		return 0, nil, fmt.Errorf("subscribe answer type %d: %w", n, wire.ErrValue)
	}
	body, err := readTypedBody(r, v, MaxRequest, buf)
	return answers[n], body, err
}

// typedAnswers reports whether answers have a type in front; the only answer of
// 01 and 02 has none.
func (v Version) typedAnswers() bool { return v >= V03 }

// appendType appends the type of an answer.
func (a SubscribeAnswer) appendType(b []byte, v Version) []byte {
	if !v.typedAnswers() {
		return b
	}
	for n, answer := range v.answers() {
		if answer == a {
			return v.Encoding().AppendVarint(b, uint64(n))
		}
	}
	panic(fmt.Sprintf("lite: subscribe answer %d does not exist on %s", a, v))
}
