// Package moqt is the wire codec of MoQ Transport, drafts 14 to 22, with the
// cluster, solicit and hidden extensions: one struct a message, with Append out
// and Decode in.
//
// Control messages are framed alike: a type, a length of two bytes, a body.
// [ReadMessage] takes one off a stream and [Decode] turns it into the struct it
// is, for a type switch; every one is a [Message]. What their layout depends on
// is a [Dialect]: the draft, and what [Settle] makes of the two [Setup]s. One struct
// stands for a message in all drafts: what 14 has as fields and later drafts as
// parameters is in [Params], ranges are inclusive in a [Filter], and codes have
// names of ours ([RequestCode], [DoneStatus], [StreamCode]), because drafts
// renumbered them. Fields a draft does not carry are not written and read as
// their zero value.
//
//	up to 16: one bidirectional stream, the client's first
//	    client > CLIENT_SETUP  message…
//	    server > SERVER_SETUP  message…
//	    SUBSCRIBE_NAMESPACE opens a bidirectional stream of its own on 16
//
//	from 17 on: a bidirectional stream for each request
//	    opener > request message  REQUEST_UPDATE…
//	    other  > answer  message…
//	    and a unidirectional stream from each side
//	    SETUP  [GOAWAY]
//
// Data travels on unidirectional streams, which [ParseUniStream] tells apart,
// and in datagrams:
//
//	SubgroupHeader  Object payload  Object payload…   FIN
//	FetchHeader     FetchObject payload…              FIN
//	Datagram
//
// Their headers are on the hot path: Parse functions take what is at the front
// of the bytes that have arrived, return 0 when that is not whole yet, and do
// not allocate.
//
// The codec knows layouts, not meaning: whether a request id is fresh, an alias
// known or a parameter in its place is the session's business. Errors wrap the
// sentinels of package wire, malformed key-value pairs [ErrPair] as well, and
// never hold a token. Decoded strings and lists own their memory; byte slices
// alias the body.
//
// Section numbers in comments are those of the moqt wire reference.
package moqt
