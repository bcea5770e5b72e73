package cluster

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/moqmesh/moqmesh/cluster/peers"
	"github.com/moqmesh/moqmesh/moq/client"
	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/wire/lite"
)

// Bounds on one attempt.
const (
	dialTime  = 10 * time.Second // to have a session
	setupTime = 10 * time.Second // for the peer to say what it is
)

// attempt is one dial of a link and the session that comes of it. The link's goroutine owns it, but for what serve uses.
type attempt struct {
	request Request
	entry   peers.Entry // as dialled
	cancel  context.CancelCauseFunc
	goaway  chan string // what the peer asked; holds one, it asks once

	session Dialled
	id      uint64 // the peer's hop id; 0 = unknown
	setup   lite.Setup
	up      time.Time // zero = not yet
	leaving bool      // the peer asked us to leave
	refused error     // why we refuse the peer
	auto    peers.AutoPrice
}

// lived is how long the session has served.
func (a *attempt) lived(now time.Time) time.Duration {
	if a.up.IsZero() {
		return 0
	}
	return now.Sub(a.up)
}

// The things that attempts tell their link.
type (
	cameUp struct {
		session Dialled
		setup   lite.Setup
	}
	askedToLeave struct{ uri string }
	ended        struct{ err error }
)

type event struct {
	from *attempt
	what any
}

// try dials and serves the session to its end, and tells what happens to it.
func (a *attempt) try(ctx context.Context, dial Dial, tell func(any)) {
	tell(ended{a.serve(ctx, dial, tell)})
}

func (a *attempt) serve(ctx context.Context, dial Dial, tell func(any)) error {
	dialling, stop := context.WithTimeout(ctx, dialTime)
	d, err := dial(dialling, a.request)
	stop()
	if err != nil {
		return err
	}
	var watching sync.WaitGroup
	defer watching.Wait()
	serving, over := context.WithCancel(ctx)
	defer over()
	watching.Go(func() { a.watch(serving, d, tell) })
	return d.Run(ctx)
}

// watch tells of what the peer says until serving ends.
func (a *attempt) watch(serving context.Context, d Dialled, tell func(any)) {
	waiting, stop := context.WithTimeout(serving, setupTime)
	setup, err := d.PeerSetup(waiting)
	stop()
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) && serving.Err() == nil {
			a.cancel(&session.CloseError{Code: session.CodeControlTimeout, Reason: "no setup"})
		}
		return
	}
	tell(cameUp{d, setup})
	select {
	case uri := <-a.goaway:
		tell(askedToLeave{uri})
	case <-serving.Done():
	}
}

// rejected says whether dialling again is useless until somebody changes something.
func rejected(err error) bool { return errors.Is(err, errOwnID) || client.Refused(err) }

// clean says whether a session ended without anything being wrong.
func clean(err error) bool {
	var closed *session.CloseError
	return err == nil || errors.As(err, &closed) && closed.Code == session.CodeNoError
}
