package moqt

import (
	"testing"
)

func checkStream(t *testing.T, row vector)     {}
func checkDatagram(t *testing.T, row vector)   {}
func checkTranscript(t *testing.T, row vector) {}
