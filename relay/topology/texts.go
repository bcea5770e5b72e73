package topology

// RuleTexts explain the rules that decide between routes: how the better one is
// better, or why it has to wait.
var RuleTexts = map[string]string{
	"only":       "there is no other route that could serve",
	"present":    "the other's relay has left, or is about to",
	"identified": "the other passes a relay that withholds its id",
	"cheaper":    "it costs less: the warm cost decides, then the cold one",
	"local":      "it is published at this relay",
	"shorter":    "the costs are equal, and it has fewer hops",
	"tie":        "all is equal, and the lower hash of name and hops wins, at every relay the same",
	"newest":     "all is equal, and it was announced last",
	"guarded":    "the cheaper one lives off the subscriptions of others, and following it could close a loop",
	"dwelling":   "a better one waits until the last move has settled",
	"held":       "readers are shown the former route for a moment more",
	"instead":    "the serving one is not for this reader",
	"unusable":   "it cannot serve: see its state",
}

// StateTexts explain the states of routes.
var StateTexts = map[string]string{
	"serving":     "the relay pulls from it when somebody reads",
	"standby":     "it could serve, and another one does",
	"quarantined": "a worse echo of a name that was just withdrawn",
	"hidden":      "it runs through a relay that has just withdrawn the name",
	"looped":      "its hops hold this relay, or one relay twice",
	"too long":    "it has more hops than cluster.max_hops",
	"leaving":     "its relay asked us to leave: it serves where there is no other",
	"lingering":   "its connection is lost and may come back",
}
