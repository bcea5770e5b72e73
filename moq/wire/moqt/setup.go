package moqt

import (
	"fmt"
	"slices"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// Numbers of the setup options (§3.2).
const (
	optionPath              = 0x01
	optionMaxRequestID      = 0x02
	optionToken             = 0x03
	optionMaxTokenCache     = 0x04
	optionAuthority         = 0x05
	optionMaxFilterRanges   = 0x06
	optionImplementation    = 0x07
	optionMaxRequestUpdates = 0x08
	optionHopID             = 0x40b54
	optionRelayHops         = 0x40b55
	optionRelayCost         = 0x40b56
	optionSolicit           = 0x40b5a
	optionHidden            = 0x40b5c
)

// Setup says what its sender is and can do: CLIENT_SETUP and SERVER_SETUP at
// the start of the control stream up to 16, SETUP at the start of each side's
// unidirectional stream from then on (§4). Options that are unknown, or that
// the draft does not have, are ignored.
type Setup struct {
	// Server says who sends it. From 17 on it is not on the wire.
	Server bool
	// Versions are the [Version.Code]s a client offers, best first, those of
	// moq-lite among them, or the one a server picks; on 14 only.
	Versions []uint64

	// Path is the request path with its query, and Authority the host; from a
	// client whose transport has no URL. The path may hold credentials.
	Path      string
	Authority string
	// MaxRequestID is what the peer's request ids must stay below until
	// [MaxRequestID] raises it; up to 16.
	MaxRequestID uint64
	// Tokens say who the sender is.
	Tokens []Token
	// MaxTokenCache is how many bytes of tokens the sender keeps for later use.
	MaxTokenCache uint64
	// MaxFilterRanges is how many ranges a [RangeFilter] may have; 19 and later.
	MaxFilterRanges uint64
	// MaxRequestUpdates is how many unanswered [RequestUpdate]s a request may
	// have; absent = no limit; 19 and later.
	MaxRequestUpdates Optional[uint64]
	// Implementation names the sender's software.
	Implementation string

	// HopID is the sender's id among relays, and its presence says that it
	// speaks the cluster extension; 0 = withheld. 17 and later.
	HopID Optional[uint64]
	// RelayHops is the same of peers who speak the extension's first draft,
	// which puts the id behind a length. Any other value of that option reads as
	// absent (§13.9).
	RelayHops Optional[uint64]
	// RelayCost is what it costs to pull from the sender; absent = 1; 17 and later.
	RelayCost Optional[uint64]
	// Solicit says whether the sender asks for advertisements with
	// [SubscribeNamespace] and wants none unasked; absent = it does not know (§12.2).
	Solicit Optional[bool]
	// Hidden says that the sender understands [Params].Hidden (§12.3).
	Hidden bool
}

// Append appends the framed message. From 17 on it starts the stream as well,
// since its type is that of the stream.
func (m Setup) Append(b []byte, d Dialect) []byte {
	v := d.Version
	enc := v.Encoding()
	b, start := openMessage(b, d, m.kind(v))
	if v == Draft14 {
		if !m.Server {
			b = enc.AppendVarint(b, uint64(len(m.Versions)))
		}
		for _, code := range m.Versions {
			b = enc.AppendVarint(b, code)
		}
	}
	return closeMessage(m.appendOptions(b, v), start)
}

func (m Setup) kind(v Version) Type {
	switch {
	case v >= Draft17:
		return typeSetup
	case m.Server:
		return typeServerSetup
	default:
		return typeClientSetup
	}
}

// optionWriter appends the setup options that a draft has.
type optionWriter struct {
	*pairs
	v Version
}

func (m Setup) appendOptions(b []byte, v Version) []byte {
	w := optionWriter{barePairs(b, v), v}
	if v <= Draft16 {
		w.pairs = countedPairs(b, v)
	}
	w.text(optionPath, m.Path)
	w.positive(optionMaxRequestID, m.MaxRequestID)
	for _, t := range m.Tokens {
		w.nested(optionToken, func(b []byte) []byte { return t.append(b, w.enc) })
	}
	w.positive(optionMaxTokenCache, m.MaxTokenCache)
	w.text(optionAuthority, m.Authority)
	w.positive(optionMaxFilterRanges, m.MaxFilterRanges)
	w.text(optionImplementation, m.Implementation)
	w.optional(optionMaxRequestUpdates, m.MaxRequestUpdates)
	w.optional(optionHopID, m.HopID)
	if m.RelayHops.OK && hasOption(optionRelayHops, v) {
		w.nested(optionRelayHops, func(b []byte) []byte { return w.enc.AppendVarint(b, m.RelayHops.V) })
	}
	w.optional(optionRelayCost, m.RelayCost)
	w.optional(optionSolicit, Optional[uint64]{oneIf(m.Solicit.V), m.Solicit.OK})
	w.positive(optionHidden, oneIf(m.Hidden))
	return w.b
}

func (w optionWriter) optional(id uint64, n Optional[uint64]) {
	if n.OK && hasOption(id, w.v) {
		w.number(id, n.V)
	}
}

// positive appends a number whose absence means 0.
func (w optionWriter) positive(id, n uint64) { w.optional(id, Optional[uint64]{n, n != 0}) }

func (w optionWriter) text(id uint64, s string) {
	if s != "" {
		w.string(id, s)
	}
}

func oneIf(f bool) uint64 {
	if f {
		return 1
	}
	return 0
}

// hasOption reports whether a setup option exists.
func hasOption(id uint64, v Version) bool {
	switch id {
	case optionPath, optionToken, optionMaxTokenCache, optionAuthority, optionImplementation, optionSolicit, optionHidden:
		return true
	case optionMaxRequestID:
		return v.HasRequestCredit()
	case optionMaxFilterRanges, optionMaxRequestUpdates:
		return v >= Draft19
	case optionHopID, optionRelayHops, optionRelayCost:
		return v.HasCluster()
	default:
		return false
	}
}

func decodeClientSetup(r *reader) Message {
	var m Setup
	if r.d.Version == Draft14 {
		for range r.Count(MaxVersions) {
			m.Versions = append(m.Versions, r.Varint())
		}
	}
	m.readCountedOptions(r)
	return m
}

func decodeServerSetup(r *reader) Message {
	m := Setup{Server: true}
	if r.d.Version == Draft14 {
		m.Versions = []uint64{r.Varint()}
	}
	m.readCountedOptions(r)
	return m
}

func decodeSetup(r *reader) Message {
	var m Setup
	types, seen := r.d.Version.pairTypes(), []uint64(nil)
	for r.Len() > 0 {
		seen = m.readOption(r, &types, seen)
	}
	return m
}

func (m *Setup) readCountedOptions(r *reader) {
	types, seen := r.d.Version.pairTypes(), []uint64(nil)
	for range r.Count(MaxOptions) {
		seen = m.readOption(r, &types, seen)
	}
}

// readOption reads one option and returns seen with its number. Only tokens and
// what is unknown may repeat.
func (m *Setup) readOption(r *reader, types *pairTypes, seen []uint64) []uint64 {
	id := types.read(&r.Reader)
	switch {
	case r.Err() != nil:
		return seen
	case len(seen) == MaxOptions:
		r.Fail(fmt.Errorf("options: %w", wire.ErrTooMany))
	case !hasOption(id, r.d.Version):
		r.skipPair(id)
	case id != optionToken && slices.Contains(seen, id):
		r.Fail(fmt.Errorf("option %#x: %w", id, wire.ErrDuplicate))
	default:
		m.setOption(r, id)
	}
	return append(seen, id)
}

func (m *Setup) setOption(r *reader, id uint64) {
	switch id {
	case optionPath:
		m.Path = r.String(MaxBody)
	case optionMaxRequestID:
		m.MaxRequestID = r.Varint()
	case optionToken:
		m.Tokens = append(m.Tokens, r.token())
	case optionMaxTokenCache:
		m.MaxTokenCache = r.Varint()
	case optionAuthority:
		m.Authority = r.String(MaxBody)
	case optionMaxFilterRanges:
		m.MaxFilterRanges = r.Varint()
	case optionImplementation:
		m.Implementation = r.String(MaxBody)
	case optionMaxRequestUpdates:
		m.MaxRequestUpdates = Some(r.Varint())
	case optionHopID:
		m.HopID = Some(r.hopID())
	case optionRelayHops:
		m.RelayHops = r.relayHops()
	case optionRelayCost:
		m.RelayCost = Some(min(r.Varint(), wire.MaxVarint))
	case optionSolicit:
		m.Solicit = Some(r.Varint() != 0)
	case optionHidden:
		m.Hidden = r.Varint() != 0
	}
}

func (r *reader) hopID() uint64 {
	hop := r.Varint()
	if hop > wire.MaxVarint {
		r.Fail(fmt.Errorf("hop %d: %w", hop, wire.ErrTooLarge))
	}
	return hop
}

func (r *reader) relayHops() Optional[uint64] {
	value := r.Bytes(MaxBody)
	hop, n, err := r.d.Version.Encoding().Parse(value)
	if err != nil || n == 0 || n < len(value) || hop > wire.MaxVarint {
		return Optional[uint64]{}
	}
	return Some(hop)
}
