// Package peers holds the rules of who is linked with whom: how a peer is written, which spellings mean the same
// relay, whose wish decides how it is dialled, what gossip says of it, when to try again, and what a link costs that
// is priced by what is measured.
//
// Start from [Parse] and [ParseList], which make an [Entry] of what an operator or a peer list wrote; [Set], which
// turns the wishes of several owners into the [Action] that is due; and [Adverts], which follows what relays announce
// of themselves.
//
// Nothing here opens a socket, reads a clock or starts a goroutine: the caller passes the time in, and randomness.
// Nothing here is safe for concurrent use. No error and no String method shows a token.
package peers
