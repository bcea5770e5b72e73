package config

import (
	"reflect"
	"testing"
	"time"
)

func TestDuration(t *testing.T) {
	for in, want := range map[string]time.Duration{
		"0": 0, "0s": 0, "10s": 10 * time.Second, "500ms": 500 * time.Millisecond, "1.5s": 1500 * time.Millisecond,
		"1h30m": 90 * time.Minute, "1h 30m": 90 * time.Minute, "2 days": 48 * time.Hour, "5min": 5 * time.Minute,
		"1us": time.Microsecond, "3µs": 3 * time.Microsecond, " 7s ": 7 * time.Second,
	} {
		if got, err := parseDuration(in); err != nil || got != want {
			t.Errorf("parseDuration(%q) = %v, %v, want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"", "10", "s", "-1s", "1x", "1s2", "1..5s", "999999999h", "106751d 106751d", "1e3s", "5 m m"} {
		if got, err := parseDuration(in); err == nil {
			t.Errorf("parseDuration(%q) = %v, want an error", in, got)
		}
	}
}

func TestAmount(t *testing.T) {
	for in, want := range map[string]Amount{
		"8GiB": {Bytes: 8 << 30}, "512MB": {Bytes: 512e6}, "4096": {Bytes: 4096}, "1.5KiB": {Bytes: 1536}, "2 GiB": {Bytes: 2 << 30},
		"75%": {Percent: 75}, "0.5 %": {Percent: 0.5}, "100%": {Percent: 100}, "0": {},
	} {
		if got, err := parseAmount(in); err != nil || got != want {
			t.Errorf("parseAmount(%q) = %v, %v, want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"", "%", "0%", "101%", "NaN%", "-1", "1GiB 1MiB", "8gib", "9223372036854775808", "9000000TiB", "1k"} {
		if got, err := parseAmount(in); err == nil {
			t.Errorf("parseAmount(%q) = %v, want an error", in, got)
		}
	}
	if got := (Amount{Percent: 25}).Of(1000); got != 250 {
		t.Errorf("25%% of 1000 = %d", got)
	}
	if got := (Amount{Bytes: 7}).Of(1000); got != 7 {
		t.Errorf("7 bytes of 1000 = %d", got)
	}
}

func TestRate(t *testing.T) {
	for in, want := range map[string]Rate{"0": 0, "25Mbps": 25e6, "500kbps": 500e3, "1.5Gbps": 1.5e9, "8bps": 8} {
		if got, err := parseRate(in); err != nil || got != want {
			t.Errorf("parseRate(%q) = %v, %v, want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"", "25", "25MB", "-1bps"} {
		if got, err := parseRate(in); err == nil {
			t.Errorf("parseRate(%q) = %v, want an error", in, got)
		}
	}
}

func TestHostPort(t *testing.T) {
	for _, in := range []string{"[::]:443", "0.0.0.0:0", "127.0.0.1:65535", "localhost:1", ":80", ""} {
		if got, err := parseHostPort(in); err != nil || string(got) != in {
			t.Errorf("parseHostPort(%q) = %q, %v", in, got, err)
		}
	}
	for _, in := range []string{"localhost", "::1:80", "a:http", "a:65536", "a:-1", "[::1]"} {
		if got, err := parseHostPort(in); err == nil {
			t.Errorf("parseHostPort(%q) = %q, want an error", in, got)
		}
	}
}

// What is written in --print-config must read back as the same.
func FuzzUnits(f *testing.F) {
	for _, s := range []string{"10s", "1h 30m", "8GiB", "75%", "25Mbps", "4096", "0", "1.5d"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, typ := range []reflect.Type{durationType, amountType, bytesType, rateType} {
			v, err := decode(typ, texts{s})
			if err != nil {
				continue
			}
			field := field{typ: typ}
			written := field.write(v)
			if written == "" {
				continue // unset
			}
			again, err := decode(typ, texts{written[1 : len(written)-1]})
			if err != nil || !reflect.DeepEqual(again.Interface(), v.Interface()) {
				t.Errorf("%s %q is written as %s and reads back as %v, %v", typ, s, written, again, err)
			}
		}
	})
}
