package hostcheck

import (
	"strings"
	"testing"
)

func TestEvaluate(t *testing.T) {
	const enough = socketBuffer
	good := Readings{OpenFiles: 1 << 20, ReceiveBuffer: enough, SendBuffer: enough, Kernel: "6.1.0-13-amd64"}
	change := func(f func(*Readings)) Readings { r := good; f(&r); return r }
	for name, tt := range map[string]struct {
		readings Readings
		demand   Demand
		want     []string // a cure each, in order
	}{
		"all well":          {good, Demand{Sessions: 1000, GSO: true}, nil},
		"nothing is known":  {Readings{}, Demand{Sessions: 1000, GSO: true}, nil},
		"files at the edge": {change(func(r *Readings) { r.OpenFiles = 1128 }), Demand{Sessions: 1000}, nil},
		"one file short": {change(func(r *Readings) { r.OpenFiles = 1127 }), Demand{Sessions: 1000},
			[]string{"ulimit -n 1128, or LimitNOFILE=1128 in the systemd unit"}},
		"no limit on sessions": {change(func(r *Readings) { r.OpenFiles = 64 }), Demand{},
			[]string{"ulimit -n 4096, or LimitNOFILE=4096 in the systemd unit"}},
		"demand beyond all numbers": {good, Demand{Sessions: 1<<64 - 1},
			[]string{"ulimit -n 18446744073709551615, or LimitNOFILE=18446744073709551615 in the systemd unit"}},
		"both buffers": {change(func(r *Readings) { r.ReceiveBuffer, r.SendBuffer = 212992, enough-1 }), Demand{Sessions: 1},
			[]string{"sysctl -w net.core.rmem_max=7340032", "sysctl -w net.core.wmem_max=7340032"}},
		"offload off by variable": {change(func(r *Readings) { r.GSODisabled = true }), Demand{Sessions: 1, GSO: true},
			[]string{"unset QUIC_GO_DISABLE_GSO, or set quic.gso = false to say so"}},
		"offload not wanted": {change(func(r *Readings) { r.GSODisabled = true }), Demand{Sessions: 1}, nil},
		"old kernel": {change(func(r *Readings) { r.Kernel = "4.19.0" }), Demand{Sessions: 1, GSO: true},
			[]string{"run on Linux 5 or newer"}},
		"strange kernel": {change(func(r *Readings) { r.Kernel = "unreal" }), Demand{Sessions: 1, GSO: true}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, f := range Evaluate(tt.readings, tt.demand) {
				got = append(got, f.Cure)
				if !strings.HasPrefix(f.String(), f.Check+": "+f.Text) {
					t.Errorf("String() = %q leaves something out", f)
				}
			}
			if strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
				t.Errorf("cures %q, want %q", got, tt.want)
			}
		})
	}
}
