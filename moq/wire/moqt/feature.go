package moqt

// HasControlStream reports whether one bidirectional stream, the client's
// first, carries the control messages of the session; from 17 on each request
// has a bidirectional stream of its own and each side's SETUP a unidirectional
// one (§5.1).
func (v Version) HasControlStream() bool { return v <= Draft16 }

// HasNamespaceStream reports whether [SubscribeNamespace] opens a bidirectional
// stream of its own, which carries its answer and [Namespace].
func (v Version) HasNamespaceStream() bool { return v >= Draft16 }

// HasRequestCredit reports whether request ids must stay below what
// [MaxRequestID] granted (§5.2).
func (v Version) HasRequestCredit() bool { return v <= Draft16 }

// HasCluster reports whether the cluster extension can be negotiated (§13).
func (v Version) HasCluster() bool { return v >= Draft17 }

// HasTrackProperties reports whether [SubscribeOK] and [Publish] carry
// properties of the track, and with them a timescale.
func (v Version) HasTrackProperties() bool { return v >= Draft16 }

// HasJoiningFetch reports whether a [Fetch] names its range by itself or by a
// subscription it joins; from 20 on it has a filter and joining is a [Fill].
func (v Version) HasJoiningFetch() bool { return v <= Draft19 }

// HasFill reports whether [Params] may ask for a [Fill].
func (v Version) HasFill() bool { return v >= Draft20 }

// FinCancels reports whether the end of a request stream by its opener cancels
// the request, as peers have it: of a namespace stream on 16, of any on 17 and
// 18. From 19 on it only says that no update follows (§5.3).
func (v Version) FinCancels() bool { return Draft16 <= v && v <= Draft18 }

// HasRepeatedSubscriptions reports whether a track may be subscribed to twice.
func (v Version) HasRepeatedSubscriptions() bool { return v >= Draft19 }

// hasDeltaTypes reports whether key-value pairs are numbered by the distance to
// the pair before.
func (v Version) hasDeltaTypes() bool { return v >= Draft16 }

// hasTypedParams reports whether the value of a message parameter is written in
// the form its type has, not by whether its number is even or odd.
func (v Version) hasTypedParams() bool { return v >= Draft17 }

// hasAnswerIDs reports whether an answer says which request it is to.
func (v Version) hasAnswerIDs() bool { return v <= Draft16 }

// hasFetchDeltas reports whether groups and objects on a fetch stream are
// written as distances.
func (v Version) hasFetchDeltas() bool { return v >= Draft18 }
