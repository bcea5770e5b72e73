package interop

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Relays of a mesh dial from relaySource, everybody else from 127.0.0.1, so that ours tells
// relays from viewers by cluster.internal_peers.
const relaySource = "127.0.0.2"

// plan is a relay of a mesh before it runs.
type plan struct {
	kind     string   // of kinds; nothing = ours
	dials    []string // names of members, with "?cost=N" where the link is priced here
	versions []string // offered and accepted between relays and to clients; nothing = the default
	node     bool     // it knows its own URL and gossips
}

// mesh is a set of running relays by name.
type mesh map[string]*member

// member is one of them. It keeps its address, hop id and settings when it is restarted.
type member struct {
	*relay
	name     string
	plan     plan
	id       uint64 // hop id
	internal string // address of its internal listener
	file     string // its settings
}

// startMesh starts all relays and waits until each serves. Links come up on their own.
func startMesh(t *testing.T, plans map[string]plan) mesh {
	t.Helper()
	m := mesh{}
	for i, name := range slices.Sorted(maps.Keys(plans)) {
		p := plans[name]
		if p.kind == "" {
			p.kind = "ours"
		}
		m[name] = &member{
			relay: &relay{kind: kinds[p.kind], addr: freeAddr(t)},
			name:  name, plan: p, id: uint64(101 + i), internal: freeAddr(t),
		}
	}
	for _, r := range m.sorted() {
		r.file = filepath.Join(t.TempDir(), r.name+".toml")
		if err := os.WriteFile(r.file, []byte(m.config(t, r)), 0o600); err != nil {
			t.Fatal(err)
		}
		r.launch(t)
	}
	for _, r := range m.sorted() {
		r.awaitReady(t)
	}
	return m
}

func (m mesh) sorted() []*member {
	list := make([]*member, 0, len(m))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		list = append(list, m[name])
	}
	return list
}

// config is the relay's settings: those of a relay alone, and its links.
func (m mesh) config(t *testing.T, r *member) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(r.kind.config(relayConfig{addr: r.addr, versions: r.plan.versions}))
	dialler, insecure := "connect", "tls.insecure"
	if r.plan.kind == "rust-0.14.12" {
		dialler, insecure = "client", "tls.disable_verify"
	}
	fmt.Fprintf(&b, "[%s]\n%s = true\n", dialler, insecure)
	if len(r.plan.versions) > 0 {
		fmt.Fprintf(&b, "version = [%s]\n", quoted(r.plan.versions))
	}
	fmt.Fprintf(&b, "[internal]\nlisten = %q\n[cluster]\nid = %d\n", r.internal, r.id)
	if r.plan.kind == "ours" {
		fmt.Fprintf(&b, "internal_peers = [%q]\n", relaySource)
	}
	if r.plan.node {
		fmt.Fprintf(&b, "node = %q\nmesh = true\n", r.url("moqt"))
	}
	if urls := m.dialled(t, r.plan); len(urls) > 0 {
		fmt.Fprintf(&b, "connect = [%s]\n", quoted(urls))
	}
	return b.String()
}

// dialled are the URLs of the members that a plan dials.
func (m mesh) dialled(t *testing.T, p plan) (urls []string) {
	t.Helper()
	for _, d := range p.dials {
		name, query, priced := strings.Cut(d, "?")
		to, known := m[name]
		if !known {
			t.Fatalf("a relay dials %q, which is not in the mesh", name)
		}
		url := to.url("moqt")
		if priced {
			url += "?" + query
		}
		urls = append(urls, url)
	}
	return urls
}

// launch starts the program; awaitReady says when it serves. 0.14.12 reads the address to
// dial from only from the environment, the others from either.
func (r *member) launch(t *testing.T) {
	t.Helper()
	cmd := exec.Command(r.program(t), r.file)
	variable := "MOQ_CONNECT_BIND"
	if r.plan.kind == "rust-0.14.12" {
		variable = "MOQ_CLIENT_BIND"
	}
	cmd.Env = append(os.Environ(), variable+"="+relaySource+":0")
	r.process = start(t, r.name, cmd)
}

// kill ends the relay without a word to anybody.
func (r *member) kill(t *testing.T) {
	t.Helper()
	r.process.signal(syscall.SIGKILL)
	if r.process.wait(5 * time.Second); r.process.running() {
		t.Fatalf("%s survives SIGKILL", r.name)
	}
}

// restart starts a killed relay again, at its address and with its hop id.
func (r *member) restart(t *testing.T) {
	t.Helper()
	r.launch(t)
	r.awaitReady(t)
}

// awaitEverywhere waits until each relay announces the broadcast.
func (m mesh) awaitEverywhere(t *testing.T, name string) {
	t.Helper()
	for _, r := range m.sorted() {
		r.awaitAnnounced(t, name)
	}
}

// way is how a relay says that it gets a broadcast: names of members from the publisher's
// relay to itself, and the price of one more subscription as the relay offers it, which has
// the default price of the viewer's own link in it.
type way struct {
	relays []string
	cost   uint64
}

func (w way) String() string { return fmt.Sprintf("%s at %d", strings.Join(w.relays, " "), w.cost) }

// way asks a relay. Any kind answers a viewer.
func (m mesh) way(t *testing.T, r *member, broadcast string) (way, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), ourProgram(t, "moqmesh"), "announced", r.url("moqt"), broadcast,
		"--tls-fingerprint", r.fingerprint, "--json", "--once", "--settle", "100ms")
	out, err := cmd.Output()
	if err != nil {
		return way{}, fmt.Errorf("announced at %s: %w", r.name, err)
	}
	var line struct {
		Path string   `json:"path"`
		Hops []uint64 `json:"hops"`
		Cost uint64   `json:"cost"`
	}
	if err := json.Unmarshal(out, &line); err != nil {
		return way{}, fmt.Errorf("announced at %s: %w in %q", r.name, err, out)
	}
	if line.Path != broadcast || len(line.Hops) < 2 {
		return way{}, fmt.Errorf("announced at %s: %q, want %s with a publisher and relays", r.name, out, broadcast)
	}
	w := way{cost: line.Cost}
	for _, id := range line.Hops[1:] { // the first is the publisher
		w.relays = append(w.relays, m.nameOf(id))
	}
	return w, nil
}

func (m mesh) nameOf(id uint64) string {
	for name, r := range m {
		if r.id == id {
			return name
		}
	}
	return "?" + strconv.FormatUint(id, 10)
}

// awaitWay waits until a relay gets the broadcast through exactly these members, itself last.
func (m mesh) awaitWay(t *testing.T, r *member, broadcast string, want ...string) {
	t.Helper()
	eventually(t, 20*time.Second, "way of "+broadcast+" to "+r.name, func() error {
		got, err := m.way(t, r, broadcast)
		if err == nil && !slices.Equal(got.relays, want) {
			err = fmt.Errorf("it is %v, want %v", got, want)
		}
		return err
	})
}

// getInternal fetches a document of the internal listener.
func (r *member) getInternal(path string) (string, error) {
	client := http.Client{Timeout: 5 * time.Second}
	req, err := http.NewRequest(http.MethodGet, "http://"+r.internal+path, nil)
	if err != nil {
		return "", err
	}
	req.Header.Set("Accept", "application/json, text/plain")
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 8<<20))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %s: %.200s", path, resp.Status, body)
	}
	return string(body), err
}

// figure is one series of ours, without the prefix of all: `bytes_total{role="publisher",tier=""}`.
func (r *member) figure(t *testing.T, series string) float64 {
	t.Helper()
	text, err := r.getInternal("/metrics")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(text) {
		if value, is := strings.CutPrefix(line, "moqmesh_relay_"+series+" "); is {
			v, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				t.Fatalf("%s: %v", series, err)
			}
			return v
		}
	}
	t.Fatalf("%s has no series %s", r.name, series)
	return 0
}

// pulls is how many subscriptions the relay has served since it started.
func (r *member) pulls(t *testing.T) int {
	t.Helper()
	return int(r.figure(t, `subscriptions_opened_total{role="publisher",tier=""}`))
}
