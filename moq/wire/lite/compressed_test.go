package lite

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/moqmesh/moqmesh/moq/wire"
)

func (m compressedStart) Append(b []byte, v Version) []byte  { return m.append(b, v) }
func (m compressedUpdate) Append(b []byte, v Version) []byte { return m.append(b, v) }

// compressedMessages handles the rows of 07 that spell their bases out.
var compressedMessages = map[string]message{
	"ANNOUNCE_START": announcement(TypeAnnounceStart, func(f fields, v Version) compressedStart {
		return compressedStart{
			path: compressedPath{base: f.uint("path_base"), keep: f.uint("path_keep"), rest: f.string("path_rest")},
			hops: buildCompressedHops(f),
			cost: buildCost(f, v),
		}
	}, decodeCompressedStart),
	"ANNOUNCE_UPDATE": announcement(TypeAnnounceUpdate, func(f fields, v Version) compressedUpdate {
		return compressedUpdate{id: f.uint("id"), hops: buildCompressedHops(f), cost: buildCost(f, v)}
	}, decodeCompressedUpdate),
}

func buildCompressedHops(f fields) compressedHops {
	return compressedHops{base: f.uint("hop_base"), literal: f.hops("hops_literal"), keep: f.uint("hop_keep")}
}

// step is one line of an announce-stream-compressed row, such as
// "UPDATE 4 [10,20,30] 1/1".
var step = regexp.MustCompile(`^(START|UPDATE|END) (\S+)(?: (?:hops )?\[([\d,]*)\])?(?: (?:cost )?(\d+)/(\d+))?$`)

func parseStep(tb testing.TB, line string) appender {
	tb.Helper()
	g := step.FindStringSubmatch(line)
	if g == nil {
		tb.Fatalf("cannot read step %q", line)
	}
	num := func(s string) uint64 {
		n, err := strconv.ParseUint(s, 10, 64)
		if s != "" && err != nil {
			tb.Fatal(err)
		}
		return n
	}
	var hops []uint64
	for s := range strings.SplitSeq(g[3], ",") {
		if s != "" {
			hops = append(hops, num(s))
		}
	}
	cost := Cost{Warm: num(g[4]), Cold: num(g[5])}
	switch g[1] {
	case "START":
		return AnnounceStart{Suffix: g[2], Hops: hops, Cost: cost}
	case "UPDATE":
		return AnnounceUpdate{ID: num(g[2]), Hops: hops, Cost: cost}
	default:
		return AnnounceEnd{ID: num(g[2])}
	}
}

func appendCompressed(c *AnnounceCompressor, b []byte, m appender) []byte {
	switch m := m.(type) {
	case AnnounceStart:
		return c.AppendStart(b, m)
	case AnnounceUpdate:
		return c.AppendUpdate(b, m)
	default:
		return c.AppendEnd(b, m.(AnnounceEnd))
	}
}

func readExpanded(x *AnnounceExpander, r wire.ByteReader, v Version) (appender, error) {
	t, body, err := ReadAnnounce(r, v, nil)
	if err != nil {
		return nil, err
	}
	switch t {
	case TypeAnnounceStart:
		return x.Start(body)
	case TypeAnnounceUpdate:
		return x.Update(body)
	default:
		return x.End(body)
	}
}

func checkCompressedStream(t *testing.T, row vector) {
	v, whole := row.version(t), row.bytes(t)
	var lines []string
	if err := json.Unmarshal(row.Fields["sequence"], &lines); err != nil {
		t.Fatal(err)
	}
	c, x, r := NewAnnounceCompressor(v), NewAnnounceExpander(v), bytes.NewReader(whole)
	var sent []byte
	for _, line := range lines {
		want := parseStep(t, line)
		sent = appendCompressed(c, sent, want)
		if !bytes.HasPrefix(whole, sent) {
			t.Fatalf("after %s: wrote %x, want the start of %x", line, sent, whole)
		}
		got, err := readExpanded(x, r, v)
		if err != nil {
			t.Fatalf("read %s: %v", line, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("read %s: -want +got\n%s", line, diff)
		}
	}
	if len(sent) != len(whole) {
		t.Errorf("wrote %d bytes, want %d", len(sent), len(whole))
	}
}

func TestExpanderRefuses(t *testing.T) {
	hops := func(from, n uint64) (ids []uint64) {
		for i := range n {
			ids = append(ids, from+i)
		}
		return ids
	}
	deep := strings.Repeat("a/", 30) + "a" // 31 segments
	long := strings.Repeat("x", MaxPath-10) + "/a"
	setup := []appender{
		AnnounceStart{Suffix: "a/b", Hops: []uint64{1, 2}},
		AnnounceStart{Suffix: deep, Hops: hops(100, 31)},
		AnnounceStart{Suffix: "gone"},
		AnnounceEnd{ID: 2},
		AnnounceStart{Suffix: long},
	} // next id is 4
	tests := []struct {
		name string
		m    appender
		want error
	}{
		{"path base unassigned", compressedStart{path: compressedPath{base: 5}}, wire.ErrValue},
		{"path base far out", compressedStart{path: compressedPath{base: wire.MaxVarint}}, wire.ErrValue},
		{"path base retired", compressedStart{path: compressedPath{base: 2, keep: 1}}, wire.ErrValue},
		{"keeps more than the path has", compressedStart{path: compressedPath{base: 4, keep: 3}}, wire.ErrValue},
		{"keeps 2^62 segments", compressedStart{path: compressedPath{base: 4, keep: wire.MaxVarint}}, wire.ErrValue},
		{"too many segments", compressedStart{path: compressedPath{base: 3, keep: 31, rest: "b/c"}}, wire.ErrTooMany},
		{"too long a path", compressedStart{path: compressedPath{base: 1, keep: 1, rest: "0123456789"}}, wire.ErrTooLarge},
		{"hop base retired", compressedStart{hops: compressedHops{base: 2}}, wire.ErrValue},
		{"keeps more than the chain has", compressedStart{hops: compressedHops{base: 4, keep: 3}}, wire.ErrValue},
		{"keeps 2^62 hops", compressedStart{hops: compressedHops{base: 4, keep: wire.MaxVarint}}, wire.ErrValue},
		{"too many hops", compressedStart{hops: compressedHops{base: 3, literal: []uint64{1, 2}, keep: 31}}, wire.ErrTooMany},
		{"hop in both parts", compressedStart{hops: compressedHops{base: 4, literal: []uint64{2}, keep: 1}}, wire.ErrDuplicate},
		{"update of a retired id", compressedUpdate{id: 2}, wire.ErrValue},
		{"update of an unassigned id", compressedUpdate{id: 4}, wire.ErrValue},
		{"update with a bad base", compressedUpdate{id: 0, hops: compressedHops{base: 2}}, wire.ErrValue},
		{"end of a retired id", AnnounceEnd{ID: 2}, wire.ErrValue},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b []byte
			for _, m := range setup {
				b = m.Append(b, V07WIP)
			}
			x, r := NewAnnounceExpander(V07WIP), bytes.NewReader(tt.m.Append(b, V07WIP))
			for range setup {
				if _, err := readExpanded(x, r, V07WIP); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := readExpanded(x, r, V07WIP); !errors.Is(err, tt.want) {
				t.Errorf("%v, want %v", err, tt.want)
			}
		})
	}
}

// "Cost > 2^62−1 (07 only): read as 2^62−1."
func TestCostSaturatesOn07(t *testing.T) {
	body := append([]byte{0, 0, 1, 'x', 0, 0, 0}, bytes.Repeat([]byte{0xff}, 18)...)
	got, err := DecodeAnnounceStart(body, V07WIP)
	want := AnnounceStart{Suffix: "x", Cost: Cost{Warm: wire.MaxVarint, Cold: wire.MaxVarint}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v: -want +got\n%s", err, diff)
	}
}

func TestBasesNeedTheirStream(t *testing.T) {
	for _, m := range []appender{
		compressedStart{path: compressedPath{base: 1}},
		compressedStart{hops: compressedHops{base: 1}},
		compressedUpdate{hops: compressedHops{base: 1}},
	} {
		kind, body, err := ReadAnnounce(bytes.NewReader(m.Append(nil, V07WIP)), V07WIP, nil)
		if err != nil {
			t.Fatal(err)
		}
		if kind == TypeAnnounceStart {
			_, err = DecodeAnnounceStart(body, V07WIP)
		} else {
			_, err = DecodeAnnounceUpdate(body, V07WIP)
		}
		if !errors.Is(err, wire.ErrValue) {
			t.Errorf("Decode(%x): %v, want %v", body, err, wire.ErrValue)
		}
	}
}

// Whatever is announced on a stream arrives as it was, on every version with
// ids, and 07 never takes more bytes than it would without references.
func TestCompressionRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SampledFrom([]Version{V06WIP, V06, V07WIP}).Draw(t, "version")
		c, x := NewAnnounceCompressor(v), NewAnnounceExpander(v)
		var live []uint64
		var next uint64
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			want := drawAnnouncement(t, live, next)
			switch m := want.(type) {
			case AnnounceStart:
				live, next = append(live, next), next+1
			case AnnounceEnd:
				for i, id := range live {
					if id == m.ID {
						live = append(live[:i:i], live[i+1:]...)
						break
					}
				}
			}
			b := appendCompressed(c, nil, want)
			if literal := want.Append(nil, v); len(b) > len(literal) {
				t.Fatalf("%+v takes %d bytes, literally %d", want, len(b), len(literal))
			}
			got, err := readExpanded(x, bytes.NewReader(b), v)
			if err != nil {
				t.Fatalf("read %+v: %v", want, err)
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("-want +got\n%s", diff)
			}
		}
		if v.HasCompression() && (len(c.live) != len(live) || len(x.live) != len(live)) {
			t.Fatalf("%d are live, compressor holds %d, expander %d", len(live), len(c.live), len(x.live))
		}
	})
}

func drawAnnouncement(t *rapid.T, live []uint64, next uint64) appender {
	hops := rapid.SliceOfNDistinct(rapid.Uint64Range(1, 9), 0, 5, rapid.ID).Draw(t, "hops")
	cost := Cost{Warm: 3, Cold: 3}
	kind := rapid.IntRange(0, 3).Draw(t, "kind")
	if len(live) == 0 || kind < 2 {
		path := rapid.StringMatching(`(a|bb)(/(a|bb|ccc)){0,3}`).Draw(t, "path")
		return AnnounceStart{Suffix: path, Hops: hops, Cost: cost}
	}
	id := rapid.SampledFrom(live).Draw(t, "id")
	if kind == 2 {
		return AnnounceUpdate{ID: id, Hops: hops, Cost: cost}
	}
	return AnnounceEnd{ID: id}
}

// A stream that ends all it announced leaves nothing behind.
func TestCompressorForgets(t *testing.T) {
	c := NewAnnounceCompressor(V07WIP)
	for i := range uint64(100) {
		c.AppendStart(nil, AnnounceStart{Suffix: fmt.Sprintf("room/%d", i%7), Hops: []uint64{i + 1, 1000}})
		c.AppendUpdate(nil, AnnounceUpdate{ID: i, Hops: []uint64{i + 2, 1000}})
	}
	for i := range uint64(100) {
		c.AppendEnd(nil, AnnounceEnd{ID: i})
	}
	if len(c.live)+len(c.heads)+len(c.tails) != 0 {
		t.Errorf("%d live, %d heads, %d tails are left", len(c.live), len(c.heads), len(c.tails))
	}
}

// "Only if strictly smaller than the literal."
func TestCompressorPrefersLiteral(t *testing.T) {
	c := NewAnnounceCompressor(V07WIP)
	c.AppendStart(nil, AnnounceStart{Hops: []uint64{7}})
	for range 127 {
		c.AppendStart(nil, AnnounceStart{})
	}
	if got := c.hops([]uint64{7}); got.base != 0 {
		t.Errorf("base %d takes 2 bytes and saves 1, want the hop itself", got.base)
	}
	if got := c.hops([]uint64{200, 7}); got.base != 0 {
		t.Errorf("base %d is no shorter, want the hops themselves", got.base)
	}
	c.AppendUpdate(nil, AnnounceUpdate{ID: 127, Hops: []uint64{7}})
	if got := c.hops([]uint64{7}); got.base != 1 || got.keep != 1 {
		t.Errorf("got base %d, keep %d, want 1, 1", got.base, got.keep)
	}
}
