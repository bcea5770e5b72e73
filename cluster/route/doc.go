// Package route decides which way a relay pulls each broadcast, and which way it
// tells each reader of. It is the core of a mesh: state and rules, without a clock, a
// lock, a goroutine or a socket.
//
// Start from [Table]. Sessions tell it what their peers announce ([Table.Learn],
// [Table.Withdraw], [Table.Lose]), what they know of the connection ([Table.SetLink])
// and who pulls what ([Table.Carry], [Table.Feed]). It answers where to pull from
// ([Table.Serving]), what to tell a reader ([Table.Offer]), whether one may be served
// ([Table.Usable], [Table.Source]), and why ([Table.Explain]). Each call returns the
// names about which something may have changed.
//
// # Routes
//
// An announcement carries the ids of the relays that it passed, oldest first, and two
// prices: warm, of one more subscription as the mesh stands, and cold, with nothing
// cached anywhere. The receiver adds the price of its own link to both. The first hop
// is the publisher; where it is unknown, the connection's stamp stands for it.
//
// A list that holds our own id or one id twice has gone in a circle, and one longer
// than Config.MaxHops is refused: the peer has no route then.
//
// # Order
//
// Of several routes the first of these rules that tells them apart decides. All
// relays ask the same, so that they agree.
//
//   - present: the connection is up, then the peer is leaving, then it runs through a
//     peer that pulls from us, then the connection is lost
//   - identified: no hop of the list is unknown
//   - cheaper: the lower warm price, then the lower cold one
//   - local: published in this process
//   - shorter: fewer hops
//   - tie: the lower hash of name and list, among those that cluster peers forwarded
//   - newest: the later announcement
//
// # Carrying
//
// A relay with a live subscription, or within 5s after the last, has paid for its
// pull: it offers its serving route at warm 0, and others take it from there.
// Discounts are not sums of prices, and relays that follow each other's could go in
// circles. So a relay that carries a name leaves a source that works only
//
//   - for a discounted route whose announcer pays less, cold, than the best of our
//     other routes costs; where it is the same, if all its relays rank below us by hash.
//     On wires with one price, where 0 says discounted, the rank alone decides. Else
//     the route is guarded. A publisher's own is never
//   - 2s after the last such move; twice as long on the way back to a source left
//     within 2min, up to 1min. Until then we are dwelling
//
// A source that is lost is left at once, to one that is not guarded if there is any.
// So is one that has turned to us for the name: see Feed. That is what ends circles
// that form while news is under way.
//
// # Readers
//
// New names, ends and falls of the price are shown at once. Another list or a rise is
// shown after 300ms, what comes and goes in between never is. A peer that the serving
// route runs through is offered the best other route at its real price, at once, and is
// never served from the serving one. A list with no room for our own hop is not passed
// on; a dearer one that has room is.
//
// A way that changes 20 times without a minute of calm loses its discount for a
// minute: among relays that follow every discount ours could keep a circle turning.
//
// # Ends
//
// A name that a peer withdraws is gone at once, and what others announce through that
// peer is hidden for 2s. After the last route has ended, a dearer or longer one to
// the same publisher is taken for an echo and ignored for 2s. The routes of a lost
// connection may linger, see Config.
//
// # Limits
//
// A table bounds nothing by number: a session bounds the announcements of its peer,
// and the table keeps one route for each. What it remembers besides is bounded for
// each name (64 withdrawals, 8 sources) and forgotten in time. A call costs as much as
// the name in question has routes, or the connection in question names.
package route
