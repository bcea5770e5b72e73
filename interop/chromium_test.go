package interop

import (
	"testing"
	"time"
)

// chromiumCells runs the browser library, the publisher and the player in one Chromium.
func chromiumCells(t *testing.T, r *relay) {
	b := startBrowser(t)
	t.Run("net", func(t *testing.T) { netCells(t, r, b) })
	for _, transport := range []string{"webtransport", "websocket"} {
		t.Run("camera/"+transport, func(t *testing.T) { cameraCell(t, r, b, transport) })
	}
	t.Run("file", func(t *testing.T) { fileCell(t, r, b) })
	t.Run("close", func(t *testing.T) { closeCells(t, b) })
}

// netCells runs the exchange of js/transfer.mjs in a page, over both transports.
func netCells(t *testing.T, r *relay, b *browser) {
	for _, c := range []struct {
		transport, version, steps string
	}{
		{"webtransport", "moq-lite-03", "end"},
		{"webtransport", "moq-lite-04", "end"},
		{"webtransport", "moq-lite-05", "datagrams,end"},
		{"webtransport", "moq-lite-06-wip", "datagrams,end"},
		{"websocket", "moq-lite-04", ""},
		{"websocket", "moq-lite-05", "datagrams,end"},
	} {
		t.Run(c.transport+"/"+c.version, func(t *testing.T) {
			r := r.offering(t, c.version)
			scheme := map[string]string{"webtransport": "https", "websocket": "ws"}[c.transport]
			p := b.open(t, "transfer", map[string]string{
				"url": r.url(scheme), "hash": r.fingerprint, "name": unique("page"),
				"transport": c.transport, "version": c.version, "steps": c.steps,
			})
			var got struct {
				transferResult
				Error string `json:"error"`
			}
			p.wait(t, "window.result", 60*time.Second, &got)
			if got.Error != "" {
				t.Fatal(got.Error)
			}
			if want := (transferResult{Version: c.version, Transport: c.transport}); got.transferResult != want {
				t.Errorf("agreed on %+v, want %+v", got.transferResult, want)
			}
		})
	}
}

// cameraCell publishes Chromium's fake camera in one page and watches it in another.
func cameraCell(t *testing.T, r *relay, b *browser, transport string) {
	name := unique("camera") + ".hang"
	query := map[string]string{"url": r.url("http"), "name": name, "transport": transport}
	b.open(t, "publish", query)
	r.awaitAnnounced(t, name)
	expectPictures(t, b.open(t, "watch", query))
}

// fileCell publishes a file with moq import and watches it in a page.
func fileCell(t *testing.T, r *relay, b *browser) {
	name := unique("file") + ".hang"
	importClip(t, r, "moqt", "", name, 100)
	r.awaitAnnounced(t, name)
	expectPictures(t, b.open(t, "watch", map[string]string{
		"url": r.url("http"), "name": name, "transport": "webtransport",
	}))
}

// expectPictures demands that the player in the page really shows moving pictures.
func expectPictures(t *testing.T, watch page) {
	t.Helper()
	watch.wait(t, "window.pictures >= 20", 30*time.Second, nil)
	var size [2]int
	watch.evaluate(t, "window.size()", &size)
	if size[0] < 160 || size[1] < 120 {
		t.Errorf("the canvas is %d x %d, too small for the video", size[0], size[1])
	}
	watch.screenshot(t, "watch")
}
