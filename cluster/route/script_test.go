package route

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var rewrite = flag.Bool("rewrite", false, "write what the scripts of testdata say now")

// TestScripts runs testdata/*.txt. A script is blocks of commands, a line of dashes
// and what they say; the commands are those of script.run.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := replay(t, string(text))
			if *rewrite {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(strings.Split(string(text), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("-file +now:\n%s", diff)
			}
		})
	}
}

// replay runs a script and returns it with what its commands say now.
func replay(t *testing.T, text string) string {
	s := &script{t: t, now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	s.d = New(Config{Self: 100})
	var out, said strings.Builder
	asking := true
	for line := range strings.Lines(text) {
		switch {
		case line == "----\n":
			out.WriteString(line + said.String())
			said.Reset()
			asking = false
		case asking:
			out.WriteString(line)
			said.WriteString(s.run(strings.TrimSpace(line)))
		case line == "\n":
			out.WriteString(line)
			asking = true
		}
	}
	return out.String()
}

// script is a table and its time.
type script struct {
	t   *testing.T
	now time.Time
	d   *Table
}

// fields are the words and the key=value pairs of a command.
type fields struct {
	t     *testing.T
	words []string
	named map[string]string
}

func (s *script) parse(line string) fields {
	f := fields{s.t, nil, make(map[string]string)}
	for _, word := range strings.Fields(line) {
		if key, value, ok := strings.Cut(word, "="); ok {
			f.named[key] = value
		} else {
			f.words = append(f.words, word)
		}
	}
	return f
}

func (f fields) number(text string) uint64 {
	f.t.Helper()
	switch text {
	case "":
		return 0
	case "max":
		return MaxCost
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		f.t.Fatal(err)
	}
	return n
}

func (f fields) peer() Peer {
	if own, ok := strings.CutPrefix(f.words[1], "own"); ok {
		return Own(f.number(own))
	}
	return Peer(f.number(f.words[1]))
}

func (f fields) has(word string) bool {
	for _, w := range f.words {
		if w == word {
			return true
		}
	}
	return false
}

func (f fields) duration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		f.t.Fatal(err)
	}
	return d
}

func (f fields) price(key string) Price {
	if text, ok := f.named[key]; ok {
		return PriceOf(f.number(text))
	}
	return Price{}
}

func (f fields) hops() (hops []uint64) {
	for _, h := range strings.FieldsFunc(f.named["hops"], func(r rune) bool { return r == ',' }) {
		hops = append(hops, f.number(h))
	}
	return hops
}

func (f fields) reader() Reader {
	return Reader{ID: f.number(f.named["id"]), MaxHops: int(f.number(f.named["hops"]))}
}

// run does one command:
//
//	table self=ID max=HOPS linger=TIME            begin anew
//	link PEER id=ID own=N declared=N stamp=ID wire=one|none [client] [leaving]
//	learn PEER NAME hops=A,B warm=N cold=N        cost=N for both
//	withdraw PEER NAME; lose PEER
//	carry NAME; drop NAME                         the first viewer, the last has left
//	feed PEER NAME; unfeed PEER NAME
//	wait TIME                                     Advance is called when Next says
//	serving NAME; source NAME id=ID; offer NAME id=ID hops=MAX; usable NAME id=ID
//	why NAME
func (s *script) run(line string) string {
	f := s.parse(line)
	if len(f.words) == 0 || strings.HasPrefix(line, "#") {
		return ""
	}
	switch f.words[0] {
	case "table":
		s.d = New(Config{Self: f.number(f.named["self"]), MaxHops: int(f.number(f.named["max"])), Linger: s.linger(f)})
		return ""
	case "wait":
		return s.wait(f.duration(f.words[1]))
	case "link":
		return s.changes(s.d.SetLink(s.now, f.peer(), f.link()))
	case "learn":
		return s.learn(f)
	case "withdraw":
		return s.changes(s.d.Withdraw(s.now, f.peer(), f.words[2]))
	case "lose":
		return s.changes(s.d.Lose(s.now, f.peer()))
	case "carry", "drop":
		return s.changes(s.d.Carry(s.now, f.words[1], f.words[0] == "carry"))
	case "feed", "unfeed":
		return s.changes(s.d.Feed(s.now, f.words[2], f.peer(), f.words[0] == "feed"))
	}
	return s.ask(f)
}

func (s *script) linger(f fields) time.Duration {
	if text, ok := f.named["linger"]; ok {
		return f.duration(text)
	}
	return 0
}

func (f fields) link() Link {
	kinds := map[string]CostKind{"": CostTwo, "one": CostOne, "none": CostNone}
	return Link{
		ID: f.number(f.named["id"]), Own: f.price("own"), Declared: f.price("declared"), Stamp: f.number(f.named["stamp"]),
		WireCost: kinds[f.named["wire"]], Trusted: !f.has("client"), Leaving: f.has("leaving"),
	}
}

func (s *script) learn(f fields) string {
	r := Route{Hops: f.hops(), Warm: f.number(f.named["warm"]), Cold: f.number(f.named["cold"])}
	if cost, ok := f.named["cost"]; ok {
		r.Warm, r.Cold = f.number(cost), f.number(cost)
	}
	changes, err := s.d.Learn(s.now, f.peer(), f.words[2], r)
	said := s.changes(changes)
	if err != nil {
		said += "refused: " + err.Error() + "\n"
	}
	return said
}

// wait lets time pass and tells when something happens.
func (s *script) wait(d time.Duration) (said string) {
	begin, end := s.now, s.now.Add(d)
	for next := s.d.Next(); !next.IsZero() && !next.After(end); next = s.d.Next() {
		s.now = next
		if news := s.changes(s.d.Advance(s.now)); news != "" {
			said += "+" + s.now.Sub(begin).String() + " " + news
		}
	}
	s.now = end
	return said
}

func (s *script) changes(changes []Change) (said string) {
	for _, c := range changes {
		if !c.Serving {
			said += c.Name + ": offers\n"
			continue
		}
		said += c.Name + ": serving " + describe(s.d.Serving(c.Name)) + "\n"
	}
	return said
}

func (s *script) ask(f fields) (said string) {
	switch f.words[0] {
	case "serving":
		return describe(s.d.Serving(f.words[1])) + "\n"
	case "source":
		return describe(s.d.Source(f.words[1], f.reader())) + "\n"
	case "offer":
		return describe(s.d.Offer(f.words[1], f.reader())) + "\n"
	case "usable":
		return fmt.Sprintln(s.d.Usable(f.words[1], f.reader()))
	case "why":
		for _, c := range s.d.Explain(f.words[1]) {
			said += fmt.Sprintf("%v: %s%s, %s: %s + %s %s = %s\n", c.Peer, c.State, map[bool]string{true: " (held)"}[c.Held], c.Rule,
				costs(c.ReceivedWarm, c.ReceivedCold), cost(c.Price), c.PriceFrom, costs(c.Warm, c.Cold))
		}
		return said
	}
	s.t.Fatalf("unknown command %q", f.words[0])
	return ""
}

func describe(c Choice, ok bool) string {
	if !ok {
		return "none"
	}
	text := fmt.Sprintf("%v %s via %s (%v)", c.Peer, costs(c.Warm, c.Cold), strings.Trim(strings.ReplaceAll(fmt.Sprint(c.Hops), " ", ","), "[]"), c.Reason)
	if c.Lingering {
		text += " lingering"
	}
	return text
}

func costs(warm, cold uint64) string {
	if warm == cold {
		return cost(warm)
	}
	return cost(warm) + "/" + cost(cold)
}

func cost(c uint64) string {
	if c == MaxCost {
		return "max"
	}
	return strconv.FormatUint(c, 10)
}
