package lite

// Bounds on what is sent and accepted (§19). Senders keep within them; Decode
// and Parse refuse what is above.
const (
	MaxMessage   = 64 << 20 // bytes in a message body
	MaxRequest   = 64 << 10 // bytes in a message body whose strings are bounded; see ReadBody
	MaxSetup     = 64 << 10 // bytes in a SETUP body
	MaxParams    = 64       // parameters of a setup message
	MaxGoawayURI = 8192     // bytes
	MaxPath      = 8192     // bytes in a broadcast path, prefix or suffix
	MaxTrackName = 8192     // bytes
	MaxHops      = 32       // ids in a hop list
	MaxInit      = 1 << 16  // suffixes in an ANNOUNCE_INIT
	MaxFrame     = 32 << 20 // bytes in a frame's payload
	MaxGroup     = 32 << 20 // bytes in the payloads of a group
	MaxFrames    = 8192     // frames in a group
)
