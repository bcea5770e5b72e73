package session

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/wire"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// Reading buffers. A stream begins with a small one, so that many idle streams
// cost little, and takes a large one when it fills it.
var (
	smallBuffers = sync.Pool{New: func() any { b := make([]byte, 2<<10); return &b }}
	largeBuffers = sync.Pool{New: func() any { b := make([]byte, 32<<10); return &b }}
)

// ingest reads one incoming stream and cuts it into frames, as bytes come.
type ingest struct {
	s      *Session
	stream ReceiveStream
	buf    []byte // what Read fills
	have   []byte // read and not used yet; a part of buf
	eof    bool
	large  *[]byte // when buf is one of largeBuffers
}

// more reads once; what was unused stays in front.
func (in *ingest) more() error {
	if in.eof {
		return io.EOF
	}
	n := copy(in.buf, in.have)
	got, err := in.stream.Read(in.buf[n:])
	in.have = in.buf[:n+got]
	if err == io.EOF {
		in.eof = true
		if got > 0 {
			return nil
		}
	}
	if err == nil && n+got == len(in.buf) && in.large == nil {
		in.grow()
	}
	return err
}

func (in *ingest) grow() {
	in.large = largeBuffers.Get().(*[]byte)
	in.have = (*in.large)[:copy(*in.large, in.have)]
	in.buf = *in.large
}

func (in *ingest) release() {
	if in.large != nil {
		largeBuffers.Put(in.large)
		in.large = nil
	}
}

// Read hands out what is buffered, then the stream itself.
func (in *ingest) Read(p []byte) (int, error) {
	if len(in.have) == 0 {
		if err := in.more(); err != nil {
			return 0, err
		}
	}
	n := copy(p, in.have)
	in.have = in.have[n:]
	return n, nil
}

// varint reads the stream's type.
func (in *ingest) varint(enc wire.Encoding) (uint64, error) {
	for {
		v, n, err := enc.Parse(in.have)
		if err != nil || n > 0 {
			in.have = in.have[n:]
			return v, err
		}
		if err := in.more(); err != nil {
			return 0, err
		}
	}
}

// group reads a group stream to its end, whatever that is.
func (in *ingest) group() {
	defer in.release()
	h, err := in.header()
	in.s.endOpening()
	if err != nil {
		in.s.cfg.Counters.StreamsRefused.Add(1)
		in.stream.Stop(StreamMalformed)
		return
	}
	in.stream.SetReadDeadline(time.Time{})
	sub := in.s.upstream(h.Subscribe)
	if sub == nil {
		in.stream.Stop(StreamCancelled) // left meanwhile: normal
		return
	}
	w, err := sub.group(h, in.stream)
	if err != nil {
		in.stream.Stop(streamCode(err))
		return
	}
	in.s.cfg.Counters.Ingress.Groups.Add(1)
	err = in.frames(w, in.s.v)
	cut := err != nil && in.s.lost(err)
	switch {
	case cut:
		w.Lose(modelError(err))
	case err != nil:
		w.Abort(modelError(err))
	}
	sub.groupDone(h.Sequence, cut)
	if err != nil {
		in.stream.Stop(streamCode(err))
	}
}

func (in *ingest) header() (lite.GroupHeader, error) {
	for {
		h, n, err := lite.ParseGroupHeader(in.have, in.s.v)
		if err != nil || n > 0 {
			in.have = in.have[n:]
			return h, err
		}
		if err := in.more(); err != nil {
			return h, err
		}
	}
}

// first waits for the answer to a request of ours to begin, or to be empty.
func (in *ingest) first() error {
	in.stream.SetReadDeadline(time.Now().Add(in.s.cfg.Limits.Request))
	defer in.stream.SetReadDeadline(time.Time{})
	switch err := in.more(); {
	case err == io.EOF:
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return moq.ErrTimeout
	default:
		return err
	}
}

// frames copies frames into w until the stream ends, showing readers all that
// came with each read. The group is closed at the stream's end.
func (in *ingest) frames(w *moq.GroupWriter, v lite.Version) error {
	f := frameParser{w: w, v: v}
	for {
		used, err := f.parse(in.have)
		in.have = in.have[used:]
		in.s.cfg.Counters.Ingress.Bytes.Add(uint64(f.bytes))
		in.s.cfg.Counters.Ingress.Frames.Add(uint64(f.frames))
		f.bytes, f.frames = 0, 0
		if err != nil {
			return err
		}
		if in.eof {
			return in.end(&f)
		}
		if used > 0 {
			w.Flush()
		}
		if err := in.more(); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
	}
}

func (in *ingest) end(f *frameParser) error {
	if len(in.have) > 0 || f.left > 0 {
		return moq.ErrWrongSize
	}
	return f.w.Close()
}

// frameParser cuts bytes into frames. Counts are since the caller cleared them.
type frameParser struct {
	w      *moq.GroupWriter
	v      lite.Version
	left   uint64 // payload still to come
	prev   uint64 // timestamp of the frame before
	bytes  int
	frames int
}

// parse takes as much of b as makes sense and returns how much that is.
func (f *frameParser) parse(b []byte) (used int, err error) {
	for used < len(b) {
		if f.left == 0 {
			n, err := f.begin(b[used:])
			if err != nil || n == 0 {
				return used, err
			}
			used += n
		}
		take := min(f.left, uint64(len(b)-used))
		if take == 0 {
			continue
		}
		if _, err := f.w.Write(b[used : used+int(take)]); err != nil {
			return used, err
		}
		used += int(take)
		f.left -= take
		f.bytes += int(take)
	}
	return used, nil
}

func (f *frameParser) begin(b []byte) (n int, err error) {
	delta, size, n, err := lite.ParseFrameHeader(b, f.v)
	if err != nil {
		if errors.Is(err, wire.ErrTooLarge) {
			err = moq.ErrFrameTooLarge
		}
		return 0, err
	}
	if n == 0 {
		return 0, nil
	}
	at, ok := lite.FrameTime(f.prev, delta)
	if !f.v.HasTimestamps() {
		at, ok = uint64(time.Now().UnixMilli()), true // arrival (§9.1)
	}
	if !ok {
		return 0, fmt.Errorf("timestamp %d%+d: %w", f.prev, delta, moq.ErrTimestamp)
	}
	f.prev, f.left = at, size
	f.frames++
	return n, f.w.BeginFrame(at, size)
}
