package wire

// Signed deltas travel as varints of (n << 1) ^ (n >> 63), so that small
// numbers of either sign stay short (§3).
const (
	MinDelta = -1 << 61  // smallest delta that fits a varint
	MaxDelta = 1<<61 - 1 // largest delta that fits a varint
)

// Zigzag folds the sign of n into its lowest bit: 0, -1, 1, -2 become 0, 1, 2, 3.
func Zigzag(n int64) uint64 { return uint64(n<<1) ^ uint64(n>>63) }

// Unzigzag is the inverse of Zigzag.
func Unzigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

// AppendZigzag appends n, which callers keep within MinDelta and MaxDelta.
func (e Encoding) AppendZigzag(b []byte, n int64) []byte {
	return e.AppendVarint(b, Zigzag(n))
}
