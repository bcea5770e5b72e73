package relay

import (
	"io"
	"log/slog"

	"github.com/moqmesh/moqmesh/relay/conf"
)

// NewLog makes the logger that a configuration asks for. Its level can be moved.
func NewLog(w io.Writer, c conf.Log) (*slog.Logger, *slog.LevelVar) {
	level := new(slog.LevelVar)
	level.Set(slogLevel(c.Level))
	opts := &slog.HandlerOptions{Level: level}
	if c.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, opts)), level
	}
	return slog.New(slog.NewTextHandler(w, opts)), level
}

func slogLevel(l conf.Level) slog.Level {
	switch l {
	case "error":
		return slog.LevelError
	case "warn":
		return slog.LevelWarn
	case "debug", "trace":
		return slog.LevelDebug
	}
	return slog.LevelInfo
}
