package relay

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/moqmesh/moqmesh/moq"
	"github.com/moqmesh/moqmesh/moq/wire"
)

// fetchWait bounds how long /fetch waits for a route, a group or its next bytes.
const fetchWait = 30 * time.Second

// fetchRequest is a parsed /fetch request.
type fetchRequest struct {
	broadcast, track string
	latest           bool
	group            uint64
}

func parseFetch(path, group string) (f fetchRequest, err error) {
	clean, err := wire.CleanPath(path)
	if err != nil {
		return f, errors.New("malformed path")
	}
	i := strings.LastIndexByte(clean, '/')
	if i < 0 {
		return f, errors.New("no broadcast in the path: /fetch/{broadcast}/{track}")
	}
	f.broadcast, f.track = clean[:i], clean[i+1:]
	if group == "" || group == "latest" {
		f.latest = true
		return f, nil
	}
	if f.group, err = strconv.ParseUint(group, 10, 62); err != nil {
		return f, errors.New("group is a number or latest")
	}
	return f, nil
}

// serveFetch streams the frames of one group as they come (relay.md §4.1).
func (r *Relay) serveFetch(w http.ResponseWriter, req *http.Request) {
	f, err := parseFetch(req.PathValue("path"), req.URL.Query().Get("group"))
	if err != nil {
		text(w, http.StatusBadRequest, err.Error()+"\n")
		return
	}
	g, ok := r.authoriseWeb(w, req, f.broadcast, "http")
	if !ok {
		return
	}
	f.broadcast = g.Root // the authoriser may have moved it
	if !readable(g, g.Root) {
		text(w, http.StatusForbidden, "not granted\n")
		return
	}
	ctx := req.Context()
	if !g.Expires.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, g.Expires)
		defer cancel()
	}
	r.log.Debug("fetching track", "broadcast", f.broadcast, "track", f.track)
	waiting, cancel := context.WithTimeoutCause(ctx, fetchWait, moq.ErrTimeout)
	defer cancel()
	group, done, err := r.findGroup(waiting, f)
	if err != nil {
		fetchFailed(w, err)
		return
	}
	defer done()
	r.streamGroup(ctx, w, group)
}

func fetchFailed(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	switch {
	case errors.Is(err, moq.ErrNotFound):
		status = http.StatusNotFound
	case errors.Is(err, moq.ErrTimeout), errors.Is(err, moq.ErrUnroutable), errors.Is(err, context.DeadlineExceeded):
		status = http.StatusGatewayTimeout
	}
	text(w, status, err.Error()+"\n")
}

// findGroup waits for a route and then for the group's first bytes.
func (r *Relay) findGroup(ctx context.Context, f fetchRequest) (g *moq.GroupReader, done func(), err error) {
	b, suffix, err := r.awaitRoute(ctx, f.broadcast)
	if err != nil {
		return nil, nil, err
	}
	key := moq.TrackKey{Suffix: suffix, Name: f.track}
	if f.latest {
		return latestGroup(ctx, b, key)
	}
	t, err := b.Hold(key)
	if err != nil {
		return nil, nil, err
	}
	if _, err = t.Info(ctx); err != nil {
		t.Drop()
		return nil, nil, err
	}
	fetched, err := t.Fetch(ctx, f.group, 0, 0)
	if err != nil {
		t.Drop()
		return nil, nil, err
	}
	done = func() { fetched.Close(); t.Drop() }
	if err := awaitBytes(ctx, &fetched.GroupReader); err != nil {
		done()
		return nil, nil, err
	}
	return &fetched.GroupReader, done, nil
}

func latestGroup(ctx context.Context, b *moq.Broadcast, key moq.TrackKey) (*moq.GroupReader, func(), error) {
	sub, err := b.Subscribe(key, moq.SubscribeOptions{}, nil) // the live edge and nothing before it
	if err != nil {
		return nil, nil, err
	}
	g, ok, err := sub.NextGroup(ctx)
	if err == nil && !ok {
		err = moq.ErrNotFound
	}
	if err == nil {
		err = awaitBytes(ctx, &g)
	}
	if err != nil {
		sub.Close()
		return nil, nil, err
	}
	return &g, sub.Close, nil
}

// awaitBytes waits until the group shows whether it exists: the answer's status
// hangs on it.
func awaitBytes(ctx context.Context, g *moq.GroupReader) error {
	if err := g.Wait(ctx); err != nil {
		return err
	}
	return g.Err()
}

// awaitRoute finds a broadcast, waiting for one to be announced.
func (r *Relay) awaitRoute(ctx context.Context, path string) (*moq.Broadcast, string, error) {
	reader := moq.Reader{Hidden: true}
	w := r.origin.Watch("", moq.Reader{Hidden: true, Allow: func(at string) bool { return wire.HasPathPrefix(path, at) }})
	defer w.Close()
	for {
		b, suffix, err := r.origin.Find(path, reader)
		if err == nil {
			return b, suffix, nil
		}
		if _, err := w.Wait(ctx); err != nil {
			return nil, "", err
		}
	}
}

// streamGroup copies the payloads of a group into an answer. A group that ends
// early cuts the answer, so that nobody takes it for whole.
func (r *Relay) streamGroup(ctx context.Context, w http.ResponseWriter, g *moq.GroupReader) {
	r.log.Debug("serving group", "group", g.Sequence())
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Moq-Group", strconv.FormatUint(g.Sequence(), 10))
	w.WriteHeader(http.StatusOK)
	flush := http.NewResponseController(w)
	for {
		p, state, ok, err := g.Next()
		switch {
		case err != nil:
			panic(http.ErrAbortHandler)
		case !ok && state == moq.Done:
			return
		case !ok:
			flush.Flush()
			if waitGroup(ctx, g) != nil {
				panic(http.ErrAbortHandler)
			}
			continue
		}
		flush.SetWriteDeadline(time.Now().Add(fetchWait))
		if _, err := w.Write(p.Payload); err != nil {
			return
		}
	}
}

func waitGroup(ctx context.Context, g *moq.GroupReader) error {
	ctx, cancel := context.WithTimeout(ctx, fetchWait)
	defer cancel()
	return g.Wait(ctx)
}
