package route

// Reason is the rule that decided between routes.
type Reason uint8

// The rules, in the order in which they are asked, then those that keep a
// better route waiting.
const (
	Only       Reason = iota // there is no other
	Present                  // the other's peer has left, or is about to
	Identified               // the other's chain holds an unknown hop
	Cheaper                  // lower warm cost, or the same and lower cold cost
	Here                     // published in this process
	Shorter                  // fewer hops
	Tie                      // lower hash of name and chain
	Newest                   // announced last
	Guarded                  // the better one lives off others' subscriptions, and following it could close a loop
	Dwelling                 // the better one waits until the last move has settled
	Held                     // readers are shown what was, for a moment
	Instead                  // the serving one is not for this reader
	Unusable                 // it cannot serve: see its state
)

var reasons = [...]string{
	Only: "only", Present: "present", Identified: "identified", Cheaper: "cheaper", Here: "local",
	Shorter: "shorter", Tie: "tie", Newest: "newest", Guarded: "guarded", Dwelling: "dwelling", Held: "held",
	Instead: "instead", Unusable: "unusable",
}

// String is the word that operators are shown.
func (r Reason) String() string { return reasons[r] }
