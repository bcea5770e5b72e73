package conf

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestChanges(t *testing.T) {
	running, next := Default(), Default()
	if got := Changes(running, next); got != nil {
		t.Fatalf("Changes of nothing = %v", got)
	}
	next.Listen.Bind = ":1"
	next.Listen.TLS.Cert = []string{"new.pem"}
	next.QUIC.IdleTimeout = time.Minute
	next.Auth.Public = Rules{"**"}
	next.Web.HTTPS.Listen = ":2"
	next.Web.HTTPS.Root = []string{"ca.pem"}
	next.Cache.Capacity.Percent = 50
	next.Limits.Sessions = 7
	next.Log.Level = "debug"
	next.Log.Format = "json"
	next.Stats.Enabled = true
	next.Cluster.Connect = Peers{{URL: "https://a.example/"}}
	want := []Change{
		{Key: "listen.bind", Live: false},
		{Key: "listen.tls.cert", Live: true},
		{Key: "quic.idle_timeout", Live: false},
		{Key: "cluster.connect", Live: true},
		{Key: "auth.public", Live: true},
		{Key: "web.https.listen", Live: false},
		{Key: "web.https.root", Live: true},
		{Key: "cache.capacity", Live: true},
		{Key: "limits.sessions", Live: true},
		{Key: "log.level", Live: true},
		{Key: "log.format", Live: false},
	}
	if diff := cmp.Diff(want, Changes(running, next)); diff != "" {
		t.Errorf("Changes (-want +got):\n%s", diff)
	}
}
