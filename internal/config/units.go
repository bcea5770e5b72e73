package config

import (
	"fmt"
	"math"
	"net"
	"strconv"
	"strings"
	"time"
)

// HostPort is a host:port pair to bind or dial. The host may be a name, an
// address, or empty for any; the port is 0 to 65535. Empty means none, so
// that a stronger source can take an address away.
type HostPort string

func parseHostPort(s string) (HostPort, error) {
	if s == "" {
		return "", nil
	}
	_, port, err := net.SplitHostPort(s)
	if err != nil {
		return "", err
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "", err
	}
	return HostPort(s), nil
}

// Bytes is a number of bytes, written as an integer or with a unit: 8GiB, 512MB.
type Bytes int64

// String gives the largest unit that divides b.
func (b Bytes) String() string {
	for _, u := range byteUnits {
		if n := Bytes(u.size); b != 0 && u.size > 1 && b%n == 0 {
			return fmt.Sprintf("%d%s", b/n, u.name)
		}
	}
	return strconv.FormatInt(int64(b), 10)
}

// Amount is a number of bytes, or a share of something such as the memory.
// The zero value means not set.
type Amount struct {
	Bytes   Bytes
	Percent float64 // above 0: the share counts and Bytes is zero
}

// Of gives the bytes that a stands for where total bytes exist.
func (a Amount) Of(total int64) int64 {
	if a.Percent > 0 {
		return int64(a.Percent / 100 * float64(total))
	}
	return int64(a.Bytes)
}

// String gives the written form.
func (a Amount) String() string {
	if a.Percent > 0 {
		return strconv.FormatFloat(a.Percent, 'f', -1, 64) + "%"
	}
	return a.Bytes.String()
}

// Rate is a number of bits per second, written with a unit: 25Mbps, 500kbps.
type Rate int64

// String gives the largest unit that divides r.
func (r Rate) String() string {
	for _, u := range rateUnits {
		if n := Rate(u.size); r != 0 && r%n == 0 {
			return fmt.Sprintf("%d%s", r/n, u.name)
		}
	}
	return "0"
}

type unit struct {
	name string
	size int64
}

// Largest first: String takes the first that divides, parsing compares whole names.
var (
	byteUnits = []unit{
		{"TiB", 1 << 40}, {"TB", 1e12}, {"GiB", 1 << 30}, {"GB", 1e9},
		{"MiB", 1 << 20}, {"MB", 1e6}, {"KiB", 1 << 10}, {"kB", 1e3}, {"KB", 1e3}, {"B", 1},
	}
	rateUnits     = []unit{{"Gbps", 1e9}, {"Mbps", 1e6}, {"kbps", 1e3}, {"bps", 1}}
	durationUnits = []unit{
		{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"sec", 1e9}, {"secs", 1e9},
		{"second", 1e9}, {"seconds", 1e9}, {"m", 60e9}, {"min", 60e9}, {"mins", 60e9}, {"minute", 60e9},
		{"minutes", 60e9}, {"h", 3600e9}, {"hr", 3600e9}, {"hour", 3600e9}, {"hours", 3600e9},
		{"d", 86400e9}, {"day", 86400e9}, {"days", 86400e9},
	}
)

// errForm says only that a text has not the accepted form; the form itself is
// told by the caller, which knows the key.
type errForm struct{}

func (errForm) Error() string { return "not in the accepted form" }

func parseAmount(s string) (Amount, error) {
	if share, ok := strings.CutSuffix(s, "%"); ok {
		p, err := strconv.ParseFloat(strings.TrimSpace(share), 64)
		if err != nil || !(p > 0 && p <= 100) {
			return Amount{}, errForm{}
		}
		return Amount{Percent: p}, nil
	}
	n, err := parseBytes(s)
	return Amount{Bytes: n}, err
}

func parseBytes(s string) (Bytes, error) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && n >= 0 {
		return Bytes(n), nil
	}
	n, rest, err := quantity(s, byteUnits)
	if err != nil || rest != "" {
		return 0, errForm{}
	}
	return Bytes(n), nil
}

func parseRate(s string) (Rate, error) {
	if s == "0" {
		return 0, nil
	}
	n, rest, err := quantity(s, rateUnits)
	if err != nil || rest != "" {
		return 0, errForm{}
	}
	return Rate(n), nil
}

// parseDuration reads 10s, 500ms, 1h30m, "1h 30m", 2days and a bare 0; any
// other number needs its unit.
func parseDuration(s string) (time.Duration, error) {
	if s == "0" {
		return 0, nil
	}
	var sum int64
	for rest := s; ; {
		n, more, err := quantity(rest, durationUnits)
		if err != nil || sum > math.MaxInt64-n {
			return 0, errForm{}
		}
		sum += n
		if more == "" {
			return time.Duration(sum), nil
		}
		rest = more
	}
}

// quantity reads one number with its unit from the front of s.
func quantity(s string, units []unit) (n int64, rest string, err error) {
	s = strings.TrimSpace(s)
	digits := len(s) - len(strings.TrimLeft(s, "0123456789."))
	number, s := s[:digits], strings.TrimLeft(s[digits:], " ")
	end := strings.IndexAny(s, " 0123456789.")
	if end < 0 {
		end = len(s)
	}
	for _, u := range units {
		if u.name == s[:end] {
			n, err = scale(number, u.size)
			return n, strings.TrimLeft(s[end:], " "), err
		}
	}
	return 0, "", errForm{}
}

// scale multiplies exactly where the number is whole.
func scale(number string, size int64) (int64, error) {
	if n, err := strconv.ParseInt(number, 10, 64); err == nil {
		if n > math.MaxInt64/size {
			return 0, errForm{}
		}
		return n * size, nil
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil || f*float64(size) >= math.MaxInt64 {
		return 0, errForm{}
	}
	return int64(math.Round(f * float64(size))), nil
}

// formatDuration drops the zero parts that time.Duration.String keeps: 5m, not 5m0s.
func formatDuration(d time.Duration) string {
	if d == 0 {
		return "0s"
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
