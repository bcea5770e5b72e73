package main

import (
	"encoding/json"
	"io"
	"time"
)

// printer writes frames the way the command line asks for.
type printer struct {
	w         io.Writer
	raw, json bool
	timescale uint64 // of the track; 0 = unknown
	meter     *meter
	now       func() time.Time
}

// frameLine is a frame with --json.
type frameLine struct {
	Group     uint64   `json:"group"`
	Frame     int      `json:"frame"`               // index within the group
	Timestamp uint64   `json:"timestamp"`           // in units of the timescale
	Timescale uint64   `json:"timescale,omitempty"` // units per second
	Size      int      `json:"size"`                // bytes
	LatencyMS *float64 `json:"latency_ms,omitempty"`
}

// frame writes one frame.
func (p *printer) frame(f received) error {
	latency, known := latencyOf(f.Payload, p.now())
	p.meter.frame(f.group, len(f.Payload))
	if known {
		p.meter.late(latency)
	}
	switch {
	case p.json:
		line := frameLine{Group: f.group, Frame: f.index, Timestamp: f.Timestamp, Timescale: p.timescale, Size: len(f.Payload)}
		if known {
			ms := milliseconds(latency)
			line.LatencyMS = &ms
		}
		return json.NewEncoder(p.w).Encode(line)
	case p.raw:
		_, err := p.w.Write(f.Payload)
		return err
	}
	_, err := p.w.Write(append(f.Payload, '\n'))
	return err
}
