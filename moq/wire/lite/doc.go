// Package lite is the wire codec of moq-lite 01 to 07: one struct a message,
// with Append out and Decode in.
//
// Append writes the whole framed message, that is its type where it has one,
// its length and its body, but never the type of the stream it goes on. Decode
// takes the body alone, which [ReadBody], [ReadAnnounce] and
// [ReadSubscribeAnswer] take off a stream. What depends on the [Version] is
// decided here; fields a version does not carry are not written and read as
// their zero value.
//
// Frames inside a group and datagrams have no length around them and are on
// the hot path: [AppendFrameHeader], [ParseFrameHeader], [ParseGroupHeader]
// and [DecodeDatagram] do not allocate.
//
// On moq-lite 07 announcements refer to earlier ones of their stream, so they
// go through an [AnnounceCompressor] and an [AnnounceExpander].
//
// The codec knows layouts, not meaning: whether an announce id is live or a
// subscription exists is the session's business. Decoded strings and hop lists
// own their memory; byte slices alias the body where their doc says so. Errors
// wrap the sentinels of package wire. Section numbers in comments are those of
// the moq-lite wire reference.
package lite
