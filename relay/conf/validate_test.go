package conf

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/moqmesh/moqmesh/internal/config"
)

func ptr[T any](v T) *T { return &v }

// startable is a configuration without a fault.
func startable() Relay {
	r := Default()
	r.Listen.TLS.Generate = []string{"localhost"}
	r.Auth.Public = Rules{"**"}
	return r
}

func TestValidate(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*Relay)
		want   []string // "key: beginning of the text", all of them
	}{
		"nothing wrong": {func(r *Relay) {}, nil},
		"id zero": {func(r *Relay) { r.Cluster.ID = ptr[uint64](0) },
			[]string{"cluster.id: --cluster-id must be non-zero"}},
		"id at the limit": {func(r *Relay) { r.Cluster.ID = ptr[uint64](1 << 62) },
			[]string{"cluster.id: --cluster-id must be below 2^62 (wire varint limit), got 4611686018427387904"}},
		"largest id":   {func(r *Relay) { r.Cluster.ID = ptr[uint64](1<<62 - 1) }, nil},
		"no hops":      {func(r *Relay) { r.Cluster.MaxHops = 0 }, []string{"cluster.max_hops: --cluster-max-hops must be from 1 to 32"}},
		"many hops":    {func(r *Relay) { r.Cluster.MaxHops = 33 }, []string{"cluster.max_hops: --cluster-max-hops must be from 1 to 32"}},
		"most hops":    {func(r *Relay) { r.Cluster.MaxHops = 32 }, nil},
		"more certs":   {func(r *Relay) { r.Listen.TLS.Cert = []string{"a"} }, []string{"listen.tls.cert: 1 certificates but 0 keys"}},
		"more keys":    {func(r *Relay) { r.Listen.TLS.Key = []string{"a"} }, []string{"listen.tls.cert: 0 certificates but 1 keys"}},
		"no cert":      {func(r *Relay) { r.Listen.TLS.Generate = nil }, []string{"listen.bind: QUIC needs a certificate"}},
		"no listener":  {func(r *Relay) { r.Listen.Bind = "" }, []string{"listen.bind: nothing to listen on"}},
		"scope no CA":  {func(r *Relay) { r.Listen.TLS.Scopes = Scopes{"a": nil} }, []string{"listen.tls.scopes: needs listen.tls.root"}},
		"https bare":   {func(r *Relay) { r.Web.HTTPS.Listen = ":1" }, []string{"web.https.listen: needs web.https.cert"}},
		"https pair":   {func(r *Relay) { r.Web.HTTPS.Cert = []string{"a"} }, []string{"web.https.cert: 1 certificates but 0 keys"}},
		"stream only":  {func(r *Relay) { r.Listen = Listen{Unix: ListenUnix{Bind: "/run/moq"}} }, nil},
		"insecure":     {func(r *Relay) { r.Connect.TLS.Insecure = true }, nil},
		"insecure, CA": {func(r *Relay) { r.Connect.TLS.Insecure, r.Connect.TLS.Root = true, []string{"a"} }, []string{"connect.tls.insecure: verifies nothing"}},
		"pin and CA": {func(r *Relay) {
			r.Connect.TLS.Fingerprint, r.Connect.TLS.Root = []string{strings.Repeat("ab", 32)}, []string{"a"}
		}, []string{"connect.tls.fingerprint: replaces the check of the chain"}},
		"short pin":   {func(r *Relay) { r.Connect.TLS.Fingerprint = []string{"abcd"} }, []string{"connect.tls.fingerprint: found \"abcd\""}},
		"no roots":    {func(r *Relay) { r.Connect.TLS.SystemRoots = ptr(false) }, []string{"connect.tls.system_roots: leaves nothing to trust"}},
		"own roots":   {func(r *Relay) { r.Connect.TLS.SystemRoots, r.Connect.TLS.Root = ptr(false), []string{"a"} }, nil},
		"cert alone":  {func(r *Relay) { r.Connect.TLS.Cert = "a" }, []string{"connect.tls.cert: needs connect.tls.key"}},
		"backoff":     {func(r *Relay) { r.Connect.Backoff = Backoff{Initial: 2, Max: 1} }, []string{"connect.backoff.multiplier: must be at least 1", "connect.backoff.max: must not be below"}},
		"no streams":  {func(r *Relay) { r.QUIC.MaxStreams = 0 }, []string{"quic.max_streams: must be from 1"}},
		"keep-alive":  {func(r *Relay) { r.QUIC.KeepAlive = r.QUIC.IdleTimeout }, []string{"quic.keep_alive: must be below"}},
		"never idle":  {func(r *Relay) { r.QUIC.IdleTimeout = 0 }, nil},
		"windows":     {func(r *Relay) { r.QUIC.StreamReceiveWindow = 65 << 20 }, []string{"quic.stream_receive_window: must not be above"}},
		"no auth":     {func(r *Relay) { r.Auth = Auth{} }, []string{"auth: nobody could connect"}},
		"mtls only":   {func(r *Relay) { r.Auth, r.Listen.TLS.Root = Auth{}, []string{"a"} }, nil},
		"two keys":    {func(r *Relay) { r.Auth.Key, r.Auth.KeyDir = "a", "b" }, []string{"auth.key_dir: excludes auth.key"}},
		"api and all": {func(r *Relay) { r.Auth.API = "https://a.example/" }, []string{"auth.auth_api: excludes"}},
		"domain":      {func(r *Relay) { r.Auth.Domains = []string{"https://a"} }, []string{"auth.domains: found \"https://a\""}},
		"headroom":    {func(r *Relay) { r.Cache.Headroom.Percent = 100 }, []string{"cache.headroom: leaves nothing"}},
		"limits":      {func(r *Relay) { r.Limits = Limits{} }, []string{"limits.open_groups_per_subscription: must be", "limits.queue_per_session: must be"}},
		"negative":    {func(r *Relay) { r.DrainTimeout = -1 }, []string{"drain_timeout: must not be negative"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := startable()
			tt.change(&r)
			checkProblems(t, r.Validate(), tt.want)
		})
	}
}

func checkProblems(t *testing.T, err error, want []string) {
	t.Helper()
	problems, _ := err.(config.Problems)
	if err != nil && problems == nil || len(problems) != len(want) {
		t.Fatalf("problems %v, want %q", err, want)
	}
	for i, p := range problems {
		if !strings.HasPrefix(p.Error(), want[i]) {
			t.Errorf("problem %q, want %q", p, want[i])
		}
	}
}

// Semantic faults tell the place of their key, whatever the source.
func TestValidationHasPlaces(t *testing.T) {
	_, _, err := sources{
		file: "[cluster]\nid = 0\nmax_hops = 33",
		env:  map[string]string{"MOQ_SERVER_QUIC_MAX_STREAMS": "0"},
		args: append([]string{"--drain-timeout=1s", "--connect-tls-cert=a"}, minimal...),
	}.load()
	want := strings.TrimSpace(`
--connect-tls-cert: needs connect.tls.key, and the other way round
MOQ_SERVER_QUIC_MAX_STREAMS: must be from 1 to 2^60
relay.toml:2:1: cluster.id: --cluster-id must be non-zero
relay.toml:3:1: cluster.max_hops: --cluster-max-hops must be from 1 to 32`)
	if err == nil {
		t.Fatal("no error")
	}
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestMeshNeedsNode(t *testing.T) {
	for name, tt := range map[string]struct {
		cluster Cluster
		want    string // a text among the problems, "" = nothing about mesh or node itself
	}{
		"no node":         {Cluster{Mesh: Mesh{On: true}}, "--cluster-mesh needs --cluster-node"},
		"node":            {Cluster{Mesh: Mesh{On: true}, Node: "https://a/"}, ""},
		"released":        {Cluster{Mesh: Mesh{On: true, Node: "https://a/"}}, ""},
		"released, other": {Cluster{Mesh: Mesh{On: true, Node: "https://a/"}, Node: "https://b/"}, "conflicts with cluster.node"},
		"token in node":   {Cluster{Node: "https://a/?jwt=T"}, "holds a token"},
	} {
		t.Run(name, func(t *testing.T) {
			tt.cluster.MaxHops = 32
			var c checker
			c.cluster(tt.cluster)
			got := c.found.Error()
			if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("problems %q, want %q", got, tt.want)
			}
		})
	}
}
