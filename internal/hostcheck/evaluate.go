package hostcheck

import (
	"fmt"
	"strconv"
	"strings"
)

// Readings are the limits of this process and its kernel. A zero value means
// that the reading is not known; it is then not judged.
type Readings struct {
	OpenFiles     uint64 // soft RLIMIT_NOFILE
	ReceiveBuffer int64  // net.core.rmem_max, bytes
	SendBuffer    int64  // net.core.wmem_max, bytes
	Kernel        string // release, such as "6.1.0-13-amd64"
	GSODisabled   bool   // QUIC_GO_DISABLE_GSO is set
}

// Demand is what the configuration may ask for.
type Demand struct {
	Sessions uint64 // sessions at a time; 0 = no limit
	GSO      bool   // segmentation offload is wanted
}

// Finding is one shortage.
type Finding struct {
	Check string `json:"check"` // name of the reading, such as "open files"
	Text  string `json:"text"`  // what was found and what is wanted
	Cure  string `json:"cure"`  // command to run or line to write
}

// String gives text and cure on one line.
func (f Finding) String() string { return f.Check + ": " + f.Text + "; cure: " + f.Cure }

const (
	// socketBuffer is what quic-go asks for in each direction.
	socketBuffer = 7168 << 10
	// reservedFiles leaves room for listeners, peers, logs, keys and the runtime.
	reservedFiles = 128
	// unboundedFiles is wanted when nothing bounds the sessions.
	unboundedFiles = 4096
	// gsoKernel is the oldest kernel on which quic-go uses segmentation offload.
	gsoKernel = 5
)

// Evaluate lists the shortages, most harmful first.
func Evaluate(r Readings, d Demand) []Finding {
	var out []Finding
	out = append(out, openFiles(r.OpenFiles, d.Sessions)...)
	out = append(out, buffer("receive buffer", "net.core.rmem_max", r.ReceiveBuffer)...)
	out = append(out, buffer("send buffer", "net.core.wmem_max", r.SendBuffer)...)
	if d.GSO {
		out = append(out, offload(r)...)
	}
	return out
}

// openFiles counts one file for each session: QUIC shares a socket, WebSocket
// and TCP do not, and a viewer chooses.
func openFiles(have, sessions uint64) []Finding {
	want, why := uint64(unboundedFiles), "no limits.sessions is set"
	if sessions > 0 {
		want = max(sessions, sessions+reservedFiles) // saturates
		why = fmt.Sprintf("limits.sessions is %d", sessions)
	}
	if have == 0 || have >= want {
		return nil
	}
	return []Finding{{
		Check: "open files",
		Text:  fmt.Sprintf("the limit is %d, want at least %d (%s)", have, want, why),
		Cure:  fmt.Sprintf("ulimit -n %d, or LimitNOFILE=%d in the systemd unit", want, want),
	}}
}

func buffer(check, key string, have int64) []Finding {
	if have == 0 || have >= socketBuffer {
		return nil
	}
	return []Finding{{
		Check: check,
		Text:  fmt.Sprintf("%s is %d, QUIC wants %d: packets are lost in bursts", key, have, socketBuffer),
		Cure:  fmt.Sprintf("sysctl -w %s=%d", key, socketBuffer),
	}}
}

func offload(r Readings) []Finding {
	const check = "segmentation offload"
	if r.GSODisabled {
		return []Finding{{check, "turned off by QUIC_GO_DISABLE_GSO although quic.gso is on",
			"unset QUIC_GO_DISABLE_GSO, or set quic.gso = false to say so"}}
	}
	major, _, _ := strings.Cut(r.Kernel, ".")
	if n, err := strconv.Atoi(major); err == nil && n < gsoKernel {
		return []Finding{{check, "kernel " + r.Kernel + " is too old for it, sending costs more",
			fmt.Sprintf("run on Linux %d or newer", gsoKernel)}}
	}
	return nil
}

// gsoDisabled reads the variable as quic-go does: any true value turns it off.
func gsoDisabled(v string) bool {
	off, err := strconv.ParseBool(v)
	return err == nil && off
}
