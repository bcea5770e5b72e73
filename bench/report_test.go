package bench

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// sample is a report of two rounds of one load on two relays.
func sample() *Report {
	load := Load{Name: "chat", Rate: 10, FrameBytes: 300, GroupFrames: 1, Viewers: 100}
	r := &Report{
		Date: time.Date(2026, 11, 30, 12, 30, 0, 0, time.UTC), Machine: Machine{Host: "bench1", CPUs: 2, Go: "go1.26"},
		Relays:  []RelayAbout{{Name: "ours", Version: "1"}, {Name: "other<2>", Version: "2"}},
		Version: "moq-lite-05", Schemes: []string{"moqt"}, Loads: []Load{load},
		Saturation: []Saturation{{Relay: "ours", Limit: LimitLoad, Viewers: 200, Steps: []FanoutResult{{Load: load, FrameCPU: 50}}}},
		Agreement:  []Agreement{{Relay: "ours", Load: load, Ours: []float64{95, 90, 99}, MoqBench: []float64{100}}},
	}
	for round, figures := range [][2]float64{{80, 100}, {60, 120}} {
		for i, us := range figures {
			r.Measurements = append(r.Measurements, Measurement{
				Round: round + 1, Relay: r.Relays[i].Name, Scheme: "moqt",
				FanoutResult: FanoutResult{Load: load, FrameCPU: us, Share: 1, Others: 0.25, Latency: Quantiles{P99: int64(us) * 100}},
			})
		}
	}
	return r
}

func TestTable(t *testing.T) {
	table := sample().Table()
	for _, want := range []string{
		"| chat | moqt | ours | 70.0 (60.0–80.0) | 7ms | 100.000 % | 0.25 |",
		"| chat | moqt | other<2> | 110.0 (100.0–120.0) | 11ms | 100.000 % | 0.25 |",
		"| chat | moqt | 0.65 (0.50–0.80) | 0.65 (0.50–0.80) |",
		"| ours | chat | 200 | load generator | 100: 50.0 |",
		"| ours | chat | 95.0 (90.0–99.0) | 100.0 | 0.95 |",
	} {
		if !strings.Contains(table, want+"\n") {
			t.Errorf("no line %q in\n%s", want, table)
		}
	}
}

func TestSVG(t *testing.T) {
	svg := sample().SVG()
	bars := 0
	for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("not well-formed: %v\n%s", err, svg)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "line" {
			bars++
		}
	}
	if bars != 2 {
		t.Errorf("%d bars, want one for each relay", bars)
	}
}

func TestEmptyReport(t *testing.T) {
	r := &Report{Relays: []RelayAbout{{Name: "ours"}}, Loads: Shapes, Schemes: []string{"moqt"}}
	if r.Table() == "" || len(r.SVG()) == 0 {
		t.Error("nothing written")
	}
}

func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "results")
	file, err := sample().Write(dir)
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(dir, "2026-11-30T1230-bench1.json"); file != want {
		t.Errorf("Write = %q, want %q", file, want)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var back Report
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	if got := len(back.Measurements); got != 4 || back.Measurements[1].FrameCPU != 100 {
		t.Errorf("read back %d measurements: %+v", got, back.Measurements)
	}
	for _, ext := range []string{".md", ".svg"} {
		if _, err := os.Stat(strings.TrimSuffix(file, ".json") + ext); err != nil {
			t.Error(err)
		}
	}
}

func TestSaturationLimit(t *testing.T) {
	usage := func(share float64) Usage {
		return Usage{Span: time.Second, CPU: time.Duration(share * float64(time.Second))}
	}
	for _, c := range []struct {
		name               string
		viewers            int
		share, self, relay float64
		limit              string
		most               int
	}{
		{"goes on", 100, 1, 0.3, 0.3, "", 100},
		{"load is full", 100, 0.5, 0.97, 0.99, LimitLoad, 0},
		{"relay is full", 100, 1, 0.5, 0.99, LimitRelay, 100},
		{"frames are lost", 100, 0.99, 0.5, 0.5, LimitDelivery, 0},
		{"enough", mostSaturate, 1, 0.3, 0.3, LimitViewers, mostSaturate},
	} {
		t.Run(c.name, func(t *testing.T) {
			relay := usage(c.relay)
			var s Saturation
			s.add(FanoutResult{Load: Load{Viewers: c.viewers}, Share: c.share, Self: usage(c.self), Relay: &relay})
			if s.Limit != c.limit || s.Viewers != c.most {
				t.Errorf("limit %q at %d viewers, want %q at %d", s.Limit, s.Viewers, c.limit, c.most)
			}
		})
	}
}

func TestMeasureLines(t *testing.T) {
	const lines = `{"subscriptions":1,"frames_recv":5}
{"subscriptions":2,"frames_recv":10}
{"subscriptions":2,"frames_recv":100}
`
	self := func() *meter { return &meter{pid: os.Getpid()} }
	load := Load{Viewers: 2}
	if _, err := measureLines(strings.NewReader(lines), self(), load, 0, time.Hour); err == nil {
		t.Error("no error although the window did not end")
	}
	if _, err := measureLines(strings.NewReader("nonsense\n"), self(), load, 0, 0); err == nil {
		t.Error("no error although a line is not JSON")
	}
	still := lines + `{"subscriptions":2,"frames_recv":100}` + "\n"
	if _, err := measureLines(strings.NewReader(still), self(), load, 0, 0); err == nil {
		t.Error("no error although no frame came in the window")
	}
	more := lines + `{"subscriptions":2,"frames_recv":200}` + "\n"
	if _, err := measureLines(strings.NewReader(more), self(), load, 0, 0); err != nil {
		t.Errorf("measureLines = %v, want a figure", err)
	}
}

func TestCPUModel(t *testing.T) {
	if got := cpuModel("processor\t: 0\nmodel name\t: Fast: 9000\nmodel name\t: Other\n"); got != "Fast: 9000" {
		t.Errorf("cpuModel = %q", got)
	}
	if got := cpuCount(strings.Repeat("processor\t: 1\nmodel name\t: Fast\n", 5000)); got != 5000 {
		t.Errorf("cpuCount = %d, want 5000", got)
	}
	if got := cpuCount(""); got < 1 {
		t.Errorf("cpuCount = %d without a list", got)
	}
	if got := cpuModel("Features: none\n"); got != "" {
		t.Errorf("cpuModel = %q, want none", got)
	}
}
