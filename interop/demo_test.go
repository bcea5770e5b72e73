package interop

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// TestDemo runs the README's first command and watches its page: the picture
// moves, and the figures are figures. Without WebTransport it moves, too.
func TestDemo(t *testing.T) {
	if testing.Short() {
		t.Skip("interop takes minutes")
	}
	b := startBrowser(t)
	program := ourProgram(t, "moqmesh")
	cmd := exec.Command(program, "demo", "--json")
	out, to := io.Pipe()
	cmd.Stdout = to
	demo := start(t, "demo", cmd)
	var urls struct{ Page, Relay, Health, Metrics, Directory string }
	if err := json.NewDecoder(out).Decode(&urls); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(urls.Directory) })
	go io.Copy(io.Discard, out)

	p := b.openURL(t, "demo", urls.Page)
	p.become(t, `document.getElementById("state").dataset.state === "live"`, 20*time.Second)
	p.become(t, `Number(document.getElementById("frames").textContent) > 25`, 20*time.Second)
	p.become(t, `/^[\d.]+ ms$/.test(document.getElementById("latency").textContent)`, 5*time.Second)
	p.become(t, `/^[\d.]+ [kM]bit\/s$/.test(document.getElementById("bitrate").textContent)`, 5*time.Second)
	const sample = `(() => { const c = document.getElementById("picture");
		return [...c.getContext("2d").getImageData(0, 0, c.width, c.height).data].filter((_, i) => i % 97 === 0).join() })()`
	var first string
	p.evaluate(t, sample, &first)
	p.become(t, sample+` !== `+quote(first), 10*time.Second)
	for _, look := range []struct {
		scheme string
		width  int64
	}{{"light", 1100}, {"dark", 1100}, {"dark", 380}} {
		if err := b.do(request{Op: "look", Page: p.id, Expression: look.scheme, Limit: look.width}, nil); err != nil {
			t.Fatal(err)
		}
		p.screenshot(t, fmt.Sprintf("demo-%s-%d", look.scheme, look.width))
	}
	fallback := b.openURL(t, "demo-websocket", urls.Page+"?transport=websocket")
	fallback.become(t, `document.getElementById("transport").textContent === "WebSocket"`, 20*time.Second)
	fallback.become(t, `Number(document.getElementById("frames").textContent) > 25`, 20*time.Second)
	if err := demo.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	select {
	case <-demo.exited:
		if demo.err != nil {
			t.Errorf("the demo ended with %v", demo.err)
		}
	case <-time.After(20 * time.Second):
		t.Error("the demo did not end")
	}
}

// become waits until an expression is true, without the page's own eval, which its
// policy forbids.
func (p page) become(t *testing.T, expression string, limit time.Duration) {
	t.Helper()
	eventually(t, limit, expression, func() error {
		var holds bool
		if err := p.b.do(request{Op: "evaluate", Page: p.id, Expression: expression}, &holds); err != nil {
			return err
		}
		if !holds {
			return errors.New("not yet")
		}
		return nil
	})
}

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}
