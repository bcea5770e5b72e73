//go:build !linux

package hostcheck

import "os"

// Read knows only the environment here; the other readings stay unknown.
func Read() (Readings, error) {
	return Readings{GSODisabled: gsoDisabled(os.Getenv("QUIC_GO_DISABLE_GSO"))}, nil
}
