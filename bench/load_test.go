package bench

import (
	"strings"
	"testing"
	"time"
)

func TestWindow(t *testing.T) {
	for _, c := range []struct {
		name           string
		load           Load
		warmup, length time.Duration
		want           window
	}{
		{"a group each", Load{Rate: 10, GroupFrames: 1}, time.Second, 4 * time.Second, window{11, 51}},
		{"whole groups", Load{Rate: 30, GroupFrames: 60}, 3 * time.Second, 5 * time.Second, window{120, 240}},
		{"at least one group", Load{Rate: 30, GroupFrames: 60}, 0, time.Second, window{60, 120}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.load.window(c.warmup, c.length); got != c.want {
				t.Errorf("window(%v, %v) = %v, want %v", c.warmup, c.length, got, c.want)
			}
			if c.load.due(c.want.first) < c.warmup {
				t.Errorf("the window begins at %v, within the warm-up of %v", c.load.due(c.want.first), c.warmup)
			}
		})
	}
}

func TestLoadCheck(t *testing.T) {
	good := Load{Rate: 10, FrameBytes: 300, GroupFrames: 1, Viewers: 5}
	if err := good.Check(); err != nil {
		t.Errorf("Check(%+v) = %v, want nil", good, err)
	}
	for want, change := range map[string]func(*Load){
		"rate":       func(l *Load) { l.Rate = 0 },
		"frame size": func(l *Load) { l.FrameBytes = stampBytes - 1 },
		"group size": func(l *Load) { l.GroupFrames, l.FrameBytes = 60, 1<<20 },
		"viewers":    func(l *Load) { l.Viewers = 0 },
	} {
		l := good
		change(&l)
		if err := l.Check(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("Check(%+v) = %v, want a complaint about the %s", l, err, want)
		}
	}
}

func TestShapes(t *testing.T) {
	for _, l := range Shapes {
		if err := l.Check(); err != nil {
			t.Errorf("%s: %v", l.Name, err)
		}
	}
	if _, err := LoadsNamed([]string{"chat", "opera"}); err == nil {
		t.Error("LoadsNamed takes a name that is not there")
	}
}

func TestStamp(t *testing.T) {
	frame := make([]byte, stampBytes+1)
	want := stamp{number: 1 << 40, due: 3*time.Hour + 1}
	want.put(frame)
	if got := readStamp(frame); got != want {
		t.Errorf("readStamp(%x) = %v, want %v", frame, got, want)
	}
}
