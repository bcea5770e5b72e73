package cluster

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/moqmesh/moqmesh/cluster/peers"
	"github.com/moqmesh/moqmesh/internal/source"
	"github.com/moqmesh/moqmesh/moq"
)

// Cluster is the links of one relay. Make it with New.
type Cluster struct {
	cfg  Config
	own  peers.Key // "" where Node is not set
	api  *source.Source[[]peers.Entry]
	wake chan struct{} // the static list has changed; holds one

	running sync.WaitGroup // links, and the list's source

	mu         sync.Mutex // guards what follows
	static     []peers.Entry
	set        *peers.Set
	adverts    *peers.Adverts
	links      map[peers.Key]*link
	inbound    map[*Inbound]struct{}
	up         int       // links up, in both directions
	alone      time.Time // since when there has been none; zero = there is one, or Run has not begun
	met        bool      // there was one
	identities identities

	badAdverts, fullAdverts repeated // owned by Run
}

// New checks cfg and prepares the links; it dials nothing yet.
func New(cfg Config) (*Cluster, error) {
	cfg = cfg.withDefaults()
	own, err := cfg.check()
	if err != nil {
		return nil, err
	}
	c := &Cluster{
		cfg: cfg, own: own, static: cfg.Static,
		wake: make(chan struct{}, 1),
		set:  peers.NewSet(own), adverts: peers.NewAdverts(),
		links: make(map[peers.Key]*link), inbound: make(map[*Inbound]struct{}),
	}
	if cfg.ConnectAPI != "" {
		c.api, err = cfg.list(own)
	}
	return c, err
}

// SetStatic replaces Config.Static: links that are not in list any more and that nobody else wants are closed. The
// list is checked as peers.Unique does; an error changes nothing.
func (c *Cluster) SetStatic(list []peers.Entry) error {
	if _, err := peers.Unique(list, c.own); err != nil {
		return err
	}
	c.mu.Lock()
	c.static = slices.Clone(list)
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
	return nil
}

// Run keeps the links up until ctx ends, and returns its cause when all of them are closed. Run it once.
func (c *Cluster) Run(ctx context.Context) error {
	defer c.running.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	c.begin()
	adverts := c.advertise()
	defer adverts.close()
	var listed <-chan struct{}
	if c.api != nil {
		listed = c.api.Changed()
		c.running.Go(func() { c.api.Run(ctx) })
	}
	c.follow(ctx, peers.Static)
	sweep, alarm := time.NewTicker(peers.Sweep), time.NewTicker(alarmEvery)
	defer sweep.Stop()
	defer alarm.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-c.wake:
			c.follow(ctx, peers.Static)
		case <-listed:
			listed = c.api.Changed()
			c.follow(ctx, peers.API)
		case <-adverts.changed():
			c.takeAdverts(adverts)
			c.follow(ctx, peers.Gossip)
		case <-sweep.C:
			c.sweep()
			c.follow(ctx, peers.Gossip)
		case <-alarm.C:
			c.raiseAlarm(time.Now())
		}
	}
}

func (c *Cluster) begin() {
	if len(c.cfg.Static) == 0 && c.api == nil && !c.cfg.Mesh {
		c.cfg.Log.Info("no cluster peers configured; running standalone")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.up == 0 {
		c.alone = time.Now()
	}
}

// follow makes the links what one owner wants now, and what gossip does: that depends on whether there is anybody else.
func (c *Cluster) follow(ctx context.Context, owner peers.Owner) {
	for _, a := range c.wishes(owner) {
		c.announceAction(a)
		c.act(ctx, a)
	}
}

func (c *Cluster) wishes(owner peers.Owner) (actions []peers.Action) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch owner {
	case peers.Static:
		actions = c.set.Replace(peers.Static, c.static)
	case peers.API:
		actions = c.set.Replace(peers.API, c.api.Get())
	}
	return append(actions, c.set.Replace(peers.Gossip, c.discoveredLocked())...)
}

// act does what a change of wishes comes to.
func (c *Cluster) act(ctx context.Context, a peers.Action) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := a.Entry.Key
	switch a.Kind {
	case peers.Dial:
		l := newLink(c, a.Entry)
		c.links[k] = l
		ctx, l.stop = context.WithCancel(ctx)
		c.running.Go(func() { l.run(ctx) })
	case peers.Redial, peers.Reprice:
		c.links[k].order(a.Entry)
	case peers.Stop:
		c.links[k].stop()
		delete(c.links, k)
	}
}

// announceAction logs why a link begins, changes or ends. What the configuration lists goes without saying.
func (c *Cluster) announceAction(a peers.Action) {
	log := c.cfg.Log.With("peer", string(a.Entry.Key), "owner", a.Owner.String())
	switch {
	case a.Kind == peers.Dial && a.Owner == peers.API:
		log.Info("cluster.connect_api peer; dialing")
	case a.Kind == peers.Dial && a.Owner == peers.Gossip:
		log.Info("discovered cluster peer; dialing")
	case a.Kind == peers.Redial && a.Handed:
		log.Info("cluster peer source changed; redialing")
	case a.Kind == peers.Redial && a.Owner == peers.Gossip:
		log.Info("cluster peer advertisement changed; redialing")
	case a.Kind == peers.Redial:
		log.Info("cluster peer settings changed; redialing")
	case a.Kind == peers.Reprice:
		log.Info("cluster peer cost changed", "cost", a.Entry.Cost.String())
	case a.Kind == peers.Stop:
		log.Info("cluster peer no longer wanted; closing")
	}
}

// alarmEvery is the time between two alarms, and how long a relay may be alone before the first.
const alarmEvery = time.Minute

// raiseAlarm says that a relay which has peers, or had, is linked with none of them.
func (c *Cluster) raiseAlarm(now time.Time) {
	alone := c.Alone(now)
	c.mu.Lock()
	wanted, met := c.set.Len(), c.met
	c.mu.Unlock()
	if alone < alarmEvery || wanted == 0 && !met {
		return
	}
	c.cfg.Counters.Alarms.Add(1)
	c.cfg.Log.Error("no cluster peer is connected", "dur", alone.Round(time.Second), "peers", wanted)
}

// Goaway tells every peer that we dialled that this relay is about to leave. Peers
// that dialled us are told by whoever accepted them.
func (c *Cluster) Goaway(ctx context.Context) {
	c.mu.Lock()
	var live []Session
	for _, l := range c.links {
		if s := l.session(); s != nil {
			live = append(live, s)
		}
	}
	c.mu.Unlock()
	var told sync.WaitGroup
	for _, s := range live {
		told.Go(func() {
			if err := s.Goaway(ctx, ""); err != nil {
				c.cfg.Log.Debug("goaway", "err", err)
			}
		})
	}
	told.Wait()
}

func (c *Cluster) linked() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.linkedLocked()
}

// linkedLocked counts a link that came up. The first one ends a time in which we could not know who left.
func (c *Cluster) linkedLocked() {
	c.met = true
	if c.up++; c.up == 1 {
		c.adverts.Reprieve(time.Now())
		c.alone = time.Time{}
	}
}

func (c *Cluster) unlinked() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unlinkedLocked()
}

// unlinkedLocked counts a link that is up no more.
func (c *Cluster) unlinkedLocked() {
	if c.up--; c.up == 0 {
		c.alone = time.Now()
	}
}

// Alone is how long no peer has been connected, 0 while one is.
func (c *Cluster) Alone(now time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.alone.IsZero() {
		return 0
	}
	return max(now.Sub(c.alone), 0)
}

// adverts is this relay's announcement of itself, and its view of those of others. Both are nil where Mesh is off.
type adverts struct {
	own  *moq.Announcement
	seen *moq.Watcher
}

func (a adverts) changed() <-chan struct{} {
	if a.seen == nil {
		return nil
	}
	return a.seen.Changed()
}

func (a adverts) close() {
	if a.seen != nil {
		a.seen.Close()
	}
	if a.own != nil {
		a.own.Withdraw()
	}
}
