package wire

import "encoding/binary"

const (
	routeHashBasis = 0x0000420c0decb00b
	routeHashPrime = 0x00000100000001b3 // FNV-1a's
)

// RouteHash ranks otherwise equal routes so that every relay of a mesh picks
// the same (§15.3): FNV-1a with MoQ's own basis over the clean absolute path,
// then each hop of the stored chain, oldest first, as 8 bytes little-endian.
// Lower wins.
func RouteHash(path string, hops []uint64) uint64 {
	h := uint64(routeHashBasis)
	for i := range len(path) {
		h = (h ^ uint64(path[i])) * routeHashPrime
	}
	var le [8]byte
	for _, hop := range hops {
		binary.LittleEndian.PutUint64(le[:], hop)
		for _, c := range le {
			h = (h ^ uint64(c)) * routeHashPrime
		}
	}
	return h
}
