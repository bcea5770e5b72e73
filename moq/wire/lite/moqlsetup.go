package lite

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// The "moql" negotiation (§2.5): the client opens a bidirectional stream with a
// CLIENT_SETUP, no stream type before it, and the server answers SERVER_SETUP.
// Both are framed as in moqt 14, a type and a length of two bytes:
//
//	20 | length (2, big-endian) | count, versions… | parameters
//	21 | length (2, big-endian) | version          | parameters

// Types of the negotiation's messages.
const (
	typeClientSetup = 0x20
	typeServerSetup = 0x21
)

// CodeMoqt14 is the version code of moqt draft 14, which the same negotiation
// can choose.
const CodeMoqt14 = 0xff00000e

// maxVersions bounds the versions a client may offer.
const maxVersions = 64

// ClientSetup offers versions, CLIENT_SETUP.
type ClientSetup struct {
	Versions   []uint64 // version codes, best first; see [Version.Code]
	Parameters []Parameter
}

// ServerSetup picks one of them, SERVER_SETUP.
type ServerSetup struct {
	Version    uint64 // version code
	Parameters []Parameter
}

// Append appends the framed message.
func (m ClientSetup) Append(b []byte) []byte {
	b, start := openMoql(b, typeClientSetup)
	b = wire.AppendVarint(b, uint64(len(m.Versions)))
	for _, code := range m.Versions {
		b = wire.AppendVarint(b, code)
	}
	return closeMoql(appendParameters(b, m.Parameters), start)
}

// Append appends the framed message.
func (m ServerSetup) Append(b []byte) []byte {
	b, start := openMoql(b, typeServerSetup)
	b = wire.AppendVarint(b, m.Version)
	return closeMoql(appendParameters(b, m.Parameters), start)
}

// openMoql appends a type and room for the length, and returns where the body starts.
func openMoql(b []byte, t uint64) ([]byte, int) {
	b = append(wire.AppendVarint(b, t), 0, 0)
	return b, len(b)
}

// closeMoql fills in the length of the body. What we send is far below 64 KiB.
func closeMoql(b []byte, start int) []byte {
	binary.BigEndian.PutUint16(b[start-2:start], uint16(len(b)-start))
	return b
}

// ReadClientSetup reads a CLIENT_SETUP off the start of a stream.
func ReadClientSetup(r wire.ByteReader) (ClientSetup, error) {
	body, err := readMoql(r, typeClientSetup)
	if err != nil {
		return ClientSetup{}, fmt.Errorf("read CLIENT_SETUP: %w", err)
	}
	return decodeClientSetup(body)
}

// ReadServerSetup reads a SERVER_SETUP off the start of a stream.
func ReadServerSetup(r wire.ByteReader) (ServerSetup, error) {
	body, err := readMoql(r, typeServerSetup)
	if err != nil {
		return ServerSetup{}, fmt.Errorf("read SERVER_SETUP: %w", err)
	}
	return decodeServerSetup(body)
}

func decodeClientSetup(body []byte) (m ClientSetup, err error) {
	r := wire.NewReader(wire.QUIC, body)
	for range r.Count(maxVersions) {
		m.Versions = append(m.Versions, r.Varint())
	}
	m.Parameters = readParameters(&r)
	return m, finish(&r, "CLIENT_SETUP")
}

func decodeServerSetup(body []byte) (m ServerSetup, err error) {
	r := wire.NewReader(wire.QUIC, body)
	m.Version = r.Varint()
	m.Parameters = readParameters(&r)
	return m, finish(&r, "SERVER_SETUP")
}

func readMoql(r wire.ByteReader, want uint64) ([]byte, error) {
	t, err := wire.QUIC.ReadVarint(r)
	if err != nil {
		return nil, err
	}
	if t != want {
		return nil, fmt.Errorf("message type %#x: %w", t, wire.ErrValue)
	}
	var size [2]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return wire.ReadBody(r, uint64(binary.BigEndian.Uint16(size[:])), nil)
}
