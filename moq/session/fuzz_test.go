package session_test

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// What a fuzzed peer does: one byte for the deed, one for the stream it concerns,
// one for the number of bytes that follow and that it says.
const (
	openUni = iota
	openBidi
	goOn
	finish
	abandon
	answer // on a stream that we opened
	datagram
	pass // time
	deeds
)

// FuzzPeer lets a peer do anything to a server that has something to serve: nothing
// panics, hangs or outlives the session, and what is held is bounded by what came.
func FuzzPeer(f *testing.F) {
	for _, seed := range fuzzSeeds(f) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) < 1 || len(script) > 16<<10 {
			return
		}
		v := lite.V01 + lite.Version(script[0])%(lite.V07WIP-lite.V01+1)
		synctest.Test(t, func(t *testing.T) { attack(t, v, script[1:]) })
	})
}

func attack(t *testing.T, v lite.Version, script []byte) {
	server := newSide(3)
	w := server.local(t, "v")
	write(t, w, 0, "x")
	peer, conn := newFakeConns()
	r := server.run(t, conn, v, true)
	if v < lite.V03 {
		ask(t, peer, lite.ClientSetup{Versions: []uint64{v.Code()}}.Append(nil))
	} else if v.HasSetup() {
		say(t, peer, lite.Setup{Hop: 8}.Append(lite.StreamSetup.Append(nil, v), v))
	}
	synctest.Wait()
	var ours []session.SendStream
	for len(script) >= 3 && peer.Context().Err() == nil {
		deed, which, n := script[0]%deeds, int(script[1]), min(int(script[2]), len(script)-3)
		said := script[3 : 3+n]
		script = script[3+n:]
		ours = do(t, peer, ours, deed, which, said)
		synctest.Wait()
	}
	// Whoever wants what the peer has announced makes it be asked.
	for _, path := range server.origin.Paths("", moq.Reader{Hidden: true}) {
		if b, suffix, err := server.origin.Find(path, moq.Reader{}); err == nil {
			if s, err := b.Subscribe(moq.TrackKey{Suffix: suffix, Name: "v"}, moq.SubscribeOptions{MaxAge: time.Second}, nil); err == nil {
				defer s.Close()
			}
		}
	}
	write(t, w, 1, "y")
	time.Sleep(time.Minute)
	if used := server.origin.Cache().Stats().Used; used > 1<<20 {
		t.Errorf("%d bytes are held for a script of less than 16 KiB", used)
	}
	peer.Close(session.CodeNoError, "")
	<-r.ended
}

// do is one deed; it returns the streams that the peer can write to.
func do(t *testing.T, peer *fakeConn, ours []session.SendStream, deed byte, which int, said []byte) []session.SendStream {
	var s session.SendStream
	if len(ours) > 0 {
		s = ours[which%len(ours)]
	}
	switch deed {
	case openUni:
		if s, err := peer.OpenUniStream(); err == nil {
			s.TryWrite(said)
			ours = append(ours, s)
		}
	case openBidi:
		if s, err := peer.OpenStream(t.Context()); err == nil {
			s.TryWrite(said)
			ours = append(ours, s)
		}
	case answer:
		peer.mu.Lock()
		waiting := len(peer.bidi) > 0
		peer.mu.Unlock()
		if waiting {
			s, err := peer.AcceptStream(t.Context())
			if err == nil {
				s.TryWrite(said)
				ours = append(ours, s)
			}
		}
	case datagram:
		peer.SendDatagram(said)
	case pass:
		time.Sleep(time.Duration(which) * 100 * time.Millisecond)
	}
	if s == nil {
		return ours
	}
	switch deed {
	case goOn:
		s.TryWrite(said)
	case finish:
		s.TryWrite(said)
		s.Close()
	case abandon:
		s.Reset(session.StreamCancelled)
	}
	return ours
}

// fuzzSeeds are what the recorded clients do.
func fuzzSeeds(f *testing.F) (seeds [][]byte) {
	b, err := os.ReadFile("testdata/lite-sessions.json")
	if err != nil {
		f.Fatal(err)
	}
	var all []recording
	if err := json.Unmarshal(b, &all); err != nil {
		f.Fatal(err)
	}
	for _, r := range all {
		for v := lite.V01; v <= lite.V07WIP; v++ {
			if strings.HasSuffix(r.Version, v.String()) {
				seeds = append(seeds, r.script(f, v))
			}
		}
	}
	return seeds
}

// script says what the clients of a recording do as FuzzPeer reads it.
func (r recording) script(f *testing.F, v lite.Version) []byte {
	b := []byte{byte(v - lite.V01)}
	index := map[string]int{}
	for _, e := range r.Events {
		if e.By != "client" || e.Stream == "" || len(e.Hex) > 2*255 {
			continue
		}
		said, err := hex.DecodeString(e.Hex)
		if err != nil {
			f.Fatal(err)
		}
		at, known := index[e.Session+e.Stream]
		deed := byte(goOn)
		switch {
		case !known && strings.HasPrefix(e.Stream, "client-uni"):
			deed = openUni
		case !known && strings.HasPrefix(e.Stream, "client-bidi"):
			deed = openBidi
		case !known:
			deed = answer
		case e.Fin:
			deed = finish
		case e.Reset != "":
			deed = abandon
		}
		if !known {
			index[e.Session+e.Stream] = len(index)
		}
		b = append(append(b, deed, byte(at), byte(len(said))), said...)
	}
	return b
}
