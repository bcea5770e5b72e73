package websocket

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	wire "github.com/moqmesh/moqmesh/moq/wire/qmux"
)

// Negotiated is what both sides agreed on.
type Negotiated struct {
	// ALPN is the MoQ version by its ALPN, such as "moq-lite-05". Empty means
	// that none was named: the version is settled by SETUP, as for "moql".
	ALPN string
	// Framing is the token of the framing: "qmux-02", "qmux-01", "qmux-00" or "webtransport".
	Framing string
}

// bare are the framings that may go without an ALPN, best first.
var bare = []wire.Version{wire.V02, wire.V01, wire.V00, wire.Legacy}

// acceptable lists the sub-protocols a server takes, best first: MoQ's version
// outranks the framing, and qmux-02 is never taken with an ALPN.
func acceptable(alpns []string) []string {
	return subprotocols(alpns, func(alpn string) []wire.Version {
		if onlyV01(alpn) {
			return []wire.Version{wire.V01}
		}
		return []wire.Version{wire.V01, wire.V00}
	})
}

// offered lists the sub-protocols a client asks for, best first.
func offered(alpns []string) []string {
	return subprotocols(alpns, func(alpn string) []wire.Version {
		if onlyV01(alpn) {
			return []wire.Version{wire.V01}
		}
		return []wire.Version{wire.V02, wire.V01, wire.V00}
	})
}

func subprotocols(alpns []string, framings func(alpn string) []wire.Version) (names []string) {
	for _, alpn := range alpns {
		for _, v := range framings(alpn) {
			names = append(names, v.String()+"."+alpn)
		}
	}
	for _, v := range bare {
		names = append(names, v.String())
	}
	return names
}

// onlyV01 reports the versions that are pinned to qmux-01: moqt-18 and later.
func onlyV01(alpn string) bool {
	draft, ok := strings.CutPrefix(alpn, "moqt-")
	if !ok {
		return false
	}
	n, err := strconv.Atoi(draft)
	return err == nil && n >= 18
}

// pick returns the first of want that is among the offers.
func pick(want, offers []string) (name string, ok bool) {
	for _, name := range want {
		if slices.Contains(offers, name) {
			return name, true
		}
	}
	return "", false
}

// parse takes a sub-protocol apart. Without one it is the legacy framing and SETUP.
func parse(subprotocol string) (n Negotiated, v wire.Version, ok bool) {
	if subprotocol == "" {
		return Negotiated{Framing: wire.Legacy.String()}, wire.Legacy, true
	}
	n.Framing, n.ALPN, _ = strings.Cut(subprotocol, ".")
	v, ok = wire.ParseVersion(n.Framing)
	return n, v, ok
}

// requested returns the sub-protocols that a request names, in its order.
func requested(h http.Header) (names []string) {
	for _, line := range h.Values("Sec-WebSocket-Protocol") {
		for name := range strings.SplitSeq(line, ",") {
			if name = strings.TrimSpace(name); name != "" {
				names = append(names, name)
			}
		}
	}
	return names
}
