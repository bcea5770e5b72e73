// Package wire holds what every MoQ dialect's codec is made of: the two varint
// encodings, a sticky [Reader] over one message body, length-prefixed framing,
// broadcast paths, stream error codes and the route hash.
//
// It turns bytes into values and back and does nothing else: no sockets, no
// clock, no goroutines. Input from outside never panics and never makes it
// allocate more than arrived. Section numbers in comments are those of the
// moq-lite wire reference.
package wire
