package demo

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

// FreeAddrs finds a loopback address whose port is free for UDP and TCP, and another
// that is free for TCP.
func FreeAddrs() (both, tcp string, err error) {
	for range 20 {
		if both, tcp, err = freeAddrs(); err == nil {
			return both, tcp, nil
		}
	}
	return "", "", err
}

func freeAddrs() (both, tcp string, err error) {
	a, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", "", err
	}
	defer a.Close()
	udp, err := net.ListenPacket("udp", a.Addr().String())
	if err != nil {
		return "", "", err
	}
	defer udp.Close()
	b, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", "", err
	}
	defer b.Close()
	return a.Addr().String(), b.Addr().String(), nil
}

var errNotReady = errors.New("the relay did not become ready")

// AwaitReady asks url until it answers 200, 15 seconds at most.
func AwaitReady(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errNotReady)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !answers(ctx, url) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func answers(ctx context.Context, url string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	res.Body.Close()
	return res.StatusCode == http.StatusOK
}
