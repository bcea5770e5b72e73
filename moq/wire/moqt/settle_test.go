package moqt

import "testing"

func TestSettle(t *testing.T) {
	none := Setup{}
	newer := Setup{HopID: Some[uint64](7), Implementation: "moq-lite-rs"}
	older := Setup{RelayHops: Some[uint64](0), Implementation: "moq-lite-js"}
	both := Setup{HopID: Some[uint64](9), RelayHops: Some[uint64](9)}
	tests := []struct {
		name         string
		v            Version
		ours, theirs Setup
		want         Dialect
	}{
		{"both new", Draft22, newer, newer, Dialect{Version: Draft22, Cluster: true}},
		{"they have neither", Draft22, both, none, Dialect{Version: Draft22}},
		{"we have neither", Draft22, none, newer, Dialect{Version: Draft22}},
		{"new and old never meet", Draft20, newer, older, Dialect{Version: Draft20, Prefixed: true}},
		{"both ids, old peer", Draft20, both, older, Dialect{Version: Draft20, Cluster: true, Prefixed: true}},
		{"both ids, new peer", Draft17, both, newer, Dialect{Version: Draft17, Cluster: true}},
		{"not before 17", Draft16, both, older, Dialect{Version: Draft16}},
	}
	for _, tt := range tests {
		if got := Settle(tt.v, tt.ours, tt.theirs); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
	if newer.Hop() != Some[uint64](7) || older.Hop() != Some[uint64](0) || both.Hop() != Some[uint64](9) || none.Hop().OK {
		t.Errorf("hops %v %v %v %v", newer.Hop(), older.Hop(), both.Hop(), none.Hop())
	}
}
