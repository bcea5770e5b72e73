package lite

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// sent returns what a peer reads of preferences.
func sent(t *testing.T, p Preferences, v Version) Preferences {
	t.Helper()
	r := v.reader(p.append(nil, v))
	got := readPreferences(&r, v)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestGroupStartByVersion(t *testing.T) {
	tests := []struct {
		name string
		v    Version
		in   Preferences
		want Optional
	}{
		{"05 latest", V05, Preferences{}, Optional{}},
		{"05 from group 0", V05, Preferences{GroupStart: Some(0)}, Some(0)},
		{"06-wip from group 0", V06WIP, Preferences{GroupStart: Some(0)}, Some(0)},
		{"06 no floor", V06, Preferences{}, Optional{}},
		{"06 floor 0 is none", V06, Preferences{GroupStart: Some(0)}, Optional{}},
		{"06 floor", V06, Preferences{GroupStart: Some(7)}, Some(7)},
		{"06 frame 3 of group 0", V06, Preferences{GroupStart: Some(0), FrameStart: 3}, Some(0)},
		{"05 floor at the top", V05, Preferences{GroupStart: Some(wire.MaxVarint)}, Some(wire.MaxVarint - 1)},
		{"02 carries none", V02, Preferences{GroupStart: Some(7)}, Optional{}},
	}
	for _, tt := range tests {
		if got := sent(t, tt.in, tt.v).GroupStart; got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

func TestMaxAge(t *testing.T) {
	for in, want := range map[time.Duration]time.Duration{
		0:                       0,
		-time.Second:            0,
		1999 * time.Microsecond: time.Millisecond,
		math.MaxInt64:           time.Duration(maxMillis) * time.Millisecond,
	} {
		if got := sent(t, Preferences{MaxAge: in}, V06).MaxAge; got != want {
			t.Errorf("%s reads as %s, want %s", in, got, want)
		}
	}
	r := V06.reader(wire.AppendVarint(nil, wire.MaxVarint))
	if got := readMillis(&r); got != time.Duration(maxMillis)*time.Millisecond {
		t.Errorf("2^62-1 ms reads as %s", got)
	}
}

func TestProbeRoundsUpToKnown(t *testing.T) {
	for in, want := range map[time.Duration]time.Duration{
		0:                       0,
		1:                       time.Millisecond,
		1999 * time.Microsecond: time.Millisecond,
		35 * time.Millisecond:   35 * time.Millisecond,
	} {
		got, err := DecodeProbe(Probe{RTT: in}.Append(nil, V06)[1:], V06)
		if got.RTT != want || err != nil {
			t.Errorf("an RTT of %s reads as %s, %v, want %s", in, got.RTT, err, want)
		}
	}
}

func TestEndedCarriesNoHops(t *testing.T) {
	for _, v := range []Version{V03, V04, V05} {
		got, err := DecodeAnnounce(Announce{Suffix: "a", Hops: []uint64{1}}.Append(nil, v)[1:], v)
		if diff := cmp.Diff(Announce{Suffix: "a"}, got); diff != "" || err != nil {
			t.Errorf("%s: %v: -want +got\n%s", v, err, diff)
		}
	}
	if _, err := DecodeAnnounce([]byte{1, 0, MaxHops + 1}, V03); !errors.Is(err, wire.ErrTooMany) {
		t.Errorf("33 hops on 03: %v, want %v", err, wire.ErrTooMany)
	}
}

func TestSetupBounds(t *testing.T) {
	var body []byte
	body = wire.AppendVarint(body, MaxParams)
	for id := range uint64(MaxParams) {
		body = append(wire.AppendVarint(body, 1000+id), 0)
	}
	if got, err := DecodeSetup(body, V06); err != nil || got != (Setup{}) {
		t.Errorf("64 unknown parameters: %+v, %v", got, err)
	}
	all := Setup{Probe: ProbeIncrease, Path: "/?jwt=x", Role: RoleSubscriber, Cost: Some(0), Hop: 9}
	if got, err := DecodeSetup(all.Append(nil, V07WIP)[1:], V07WIP); err != nil || got != all {
		t.Errorf("%+v reads as %+v, %v", all, got, err)
	}
}

// Credentials in a path stay out of errors.
func TestSetupErrorHidesPath(t *testing.T) {
	body := append([]byte{1, paramPath, 11}, "?jwt=secret"...)
	body[len(body)-1] = 0xff
	_, err := DecodeSetup(body, V06)
	if !errors.Is(err, wire.ErrUTF8) || err.Error() != "decode SETUP: parameter 2: invalid UTF-8" {
		t.Errorf("a path not UTF-8: %v", err)
	}
}
