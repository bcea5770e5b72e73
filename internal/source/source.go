package source

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Config says where a value comes from and how it is read.
type Config[T any] struct {
	// Locations are file paths, file:// URLs without a host, or one http(s) URL. Several files are read together and
	// parsed together, so that a certificate and its key change in one step.
	Locations []string
	// Parse turns the contents, one for each location in the same order, into a value. It owns the slices.
	// Its errors are logged by Run and shown in Status: they must not quote secrets.
	Parse func(docs [][]byte) (T, error)
	// Period is the time between two checks. Zero means 30 s.
	Period time.Duration
	// MaxBytes bounds each file or body; more is an error. Zero means 1 MiB.
	MaxBytes int64
	// Timeout bounds one HTTP exchange, body included. Zero means 5 s.
	Timeout time.Duration
	// MaxAge bounds how long an HTTP answer may call itself fresh. Zero means one hour.
	MaxAge time.Duration
	// Client makes the HTTP requests; a client of its own redirect policy keeps it. Nil means http.DefaultClient.
	Client *http.Client
	// Log receives the events of Lines. Nil discards them.
	Log *slog.Logger
	// Lines are the log messages; see there for the zero value.
	Lines Lines
}

// One adapts a parser of a single document to Config.Parse, for a source with one location.
func One[T any](parse func(doc []byte) (T, error)) func(docs [][]byte) (T, error) {
	return func(docs [][]byte) (T, error) { return parse(docs[0]) }
}

// Source holds the last good value of its locations. All methods may be called at the same time.
type Source[T any] struct {
	cfg    Config[T]
	from   string // for logs: no query, no credentials
	reader reader
	watch  *watch

	value  atomic.Pointer[T]
	checks atomic.Uint64 // checks that came to an end of their own
	busy   chan struct{} // holds one token while a check runs; its holder owns reader, good and bad
	good   verdict
	bad    verdict

	mu      sync.Mutex // guards the rest
	changed chan struct{}
	status  Status
	grumble grumble
	// unwatched says that the watcher's failure has been logged.
	unwatched bool
}

// verdict remembers what the parser said of one content.
type verdict struct {
	seen bool
	sum  [sha256.Size]byte
	err  error
}

// New checks cfg and returns a source that has read nothing yet.
func New[T any](cfg Config[T]) (*Source[T], error) {
	if cfg.Parse == nil {
		return nil, errors.New("source without a parser")
	}
	at, err := parseLocations(cfg.Locations)
	if err != nil {
		return nil, err
	}
	cfg.Period = cmp.Or(cfg.Period, 30*time.Second)
	cfg.MaxBytes = cmp.Or(cfg.MaxBytes, 1<<20)
	cfg.Timeout = cmp.Or(cfg.Timeout, 5*time.Second)
	cfg.MaxAge = cmp.Or(cfg.MaxAge, time.Hour)
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	cfg.Client = cmp.Or(cfg.Client, http.DefaultClient)
	cfg.Lines = cfg.Lines.orDefault()
	s := &Source[T]{
		cfg:     cfg,
		from:    at.shown,
		busy:    make(chan struct{}, 1),
		changed: make(chan struct{}),
		status:  Status{From: at.shown, Every: cfg.Period},
		watch:   newWatch(at.files),
	}
	s.reader = s.newReader(at)
	return s, nil
}

func (s *Source[T]) newReader(at locations) reader {
	if at.url == "" {
		return files{paths: at.files, max: s.cfg.MaxBytes}
	}
	return newFetcher(fetchConfig{
		url:     at.url,
		client:  s.cfg.Client,
		max:     s.cfg.MaxBytes,
		timeout: s.cfg.Timeout,
		floor:   s.cfg.Period,
		ceiling: s.cfg.MaxAge,
		log:     s.cfg.Log.With("source", s.from),
	})
}

// Get returns the last good value, or the zero value before the first one. It never blocks.
func (s *Source[T]) Get() T {
	if v := s.value.Load(); v != nil {
		return *v
	}
	var none T
	return none
}

// Changed returns a channel that is closed when the next new value has been published. Take the channel first and Get
// second, and no value is missed.
func (s *Source[T]) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// Load checks the locations now. It returns nil when the value is as the locations have it, the reason why the old
// value stays otherwise, and the cause of ctx when that ended first. Calls at the same time wait for each other; those
// that waited for an HTTP exchange share its outcome.
func (s *Source[T]) Load(ctx context.Context) error {
	before := s.checks.Load()
	select {
	case s.busy <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-s.busy }()
	if s.reader.shares() && s.checks.Load() != before {
		return s.Status().Err
	}
	return s.check(ctx)
}
