package moqt

// Bounds on what is sent and accepted. Senders keep within them; Decode and
// Parse refuse what is above, before memory is taken for it.
const (
	MaxBody             = 1<<16 - 1 // bytes in the body of a control message
	MaxFields           = 32        // fields of a namespace
	MaxFullName         = 4096      // bytes in the fields of a namespace and the track name together
	MaxReason           = 1024      // bytes in a reason phrase
	MaxURI              = 8192      // bytes
	MaxVersions         = 64        // versions of a CLIENT_SETUP
	MaxOptions          = 63        // options of a setup message
	MaxParams           = 63        // parameters of a message
	MaxHops             = 32        // ids in a HOP_PATH
	MaxTrackProperties  = 32 << 10  // bytes of properties after a message
	MaxTrackPairs       = 128       // properties after a message
	MaxObjectProperties = 64 << 10  // bytes of properties before an object
	MaxObject           = 32 << 20  // bytes in an object's payload
)
