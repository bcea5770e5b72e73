package websocket

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"github.com/moqmesh/moqmesh/moq/session"
	"github.com/moqmesh/moqmesh/moq/transport/qmux"
)

var alpns = []string{"moq-lite-05", "moql", "moqt-18", "moqt-17", "moq-00"}

func TestAcceptable(t *testing.T) {
	want := []string{
		"qmux-01.moq-lite-05", "qmux-00.moq-lite-05",
		"qmux-01.moql", "qmux-00.moql",
		"qmux-01.moqt-18",
		"qmux-01.moqt-17", "qmux-00.moqt-17",
		"qmux-01.moq-00", "qmux-00.moq-00",
		"qmux-02", "qmux-01", "qmux-00", "webtransport",
	}
	if diff := cmp.Diff(want, acceptable(alpns)); diff != "" {
		t.Errorf("acceptable (-want +got):\n%s", diff)
	}
}

func TestOffered(t *testing.T) {
	want := []string{
		"qmux-02.moq-lite-05", "qmux-01.moq-lite-05", "qmux-00.moq-lite-05",
		"qmux-01.moqt-22",
		"qmux-02", "qmux-01", "qmux-00", "webtransport",
	}
	if diff := cmp.Diff(want, offered([]string{"moq-lite-05", "moqt-22"})); diff != "" {
		t.Errorf("offered (-want +got):\n%s", diff)
	}
}

// What the clients of the wire reference send, and what the relay answers.
func TestChoose(t *testing.T) {
	tests := []struct {
		name   string
		offers []string // header lines
		want   Negotiated
		err    error
	}{
		{"none", nil, Negotiated{"", "webtransport"}, nil},
		{"empty", []string{""}, Negotiated{"", "webtransport"}, nil},
		{"current browser", []string{"qmux-02.moq-lite-05, qmux-01.moq-lite-05, qmux-00.moq-lite-05, qmux-02.moq-lite-04, qmux-02, qmux-01, qmux-00, webtransport"}, Negotiated{"moq-lite-05", "qmux-01"}, nil},
		{"bare only", []string{"qmux-01, qmux-00, webtransport"}, Negotiated{"", "qmux-01"}, nil},
		{"older browser", []string{"qmux-00, webtransport, qmux-00.moq-lite-04, webtransport.moq-lite-04"}, Negotiated{"", "qmux-00"}, nil},
		{"older browser, version served", []string{"qmux-00, qmux-00.moq-lite-05"}, Negotiated{"moq-lite-05", "qmux-00"}, nil},
		{"version outranks framing", []string{"qmux-01.moqt-17", "qmux-00.moq-lite-05"}, Negotiated{"moq-lite-05", "qmux-00"}, nil},
		{"18 not under 00", []string{"qmux-00.moqt-18, qmux-02"}, Negotiated{"", "qmux-02"}, nil},
		{"prefixed 02 alone", []string{"qmux-02.moq-lite-05"}, Negotiated{}, ErrNoSubprotocol},
		{"bare ALPN", []string{"moq-lite-05"}, Negotiated{}, ErrNoSubprotocol},
		{"unknown", []string{"chat, qmux-09"}, Negotiated{}, ErrNoSubprotocol},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			for _, line := range tt.offers {
				r.Header.Add("Sec-WebSocket-Protocol", line)
			}
			name, err := choose(r, AcceptOptions{ALPNs: alpns})
			if !errors.Is(err, tt.err) {
				t.Fatalf("choose(%q) = %v, want %v", tt.offers, err, tt.err)
			}
			if err != nil {
				return
			}
			got, version, ok := parse(name)
			if !ok || got != tt.want || version.String() != tt.want.Framing {
				t.Errorf("choose(%q) = %+v, %s, %t, want %+v", tt.offers, got, version, ok, tt.want)
			}
		})
	}
}

func TestStatus(t *testing.T) {
	long := strings.Repeat("é", 100)
	tests := []struct {
		cause  error
		status websocket.StatusCode
		reason string
		ok     bool
	}{
		{&session.CloseError{Code: 0, Reason: "bye"}, 1000, "bye", true},
		{&session.CloseError{Code: 3, Reason: long}, 4003, long[:122], true},
		{&session.CloseError{Code: 567}, 4567, "", true},
		{&session.CloseError{Code: 1 << 20}, 1011, "", true},
		{&qmux.ViolationError{Violation: qmux.FlowControl, Detail: "x"}, 1002, "flow_control", true},
		{&qmux.RemoteError{Code: 1002}, 1002, "", true},
		{ErrSilent, 0, "", false},
	}
	for _, tt := range tests {
		status, reason, ok := statusOf(tt.cause)
		if status != tt.status || reason != tt.reason || ok != tt.ok {
			t.Errorf("statusOf(%v) = %d, %q, %t, want %d, %q, %t", tt.cause, status, reason, ok, tt.status, tt.reason, tt.ok)
		}
	}
}

func TestCloseErrorOf(t *testing.T) {
	tests := []struct {
		status websocket.StatusCode
		code   session.SessionCode
		ok     bool
	}{{1000, 0, true}, {1001, 0, true}, {1005, 0, true}, {4567, 567, true}, {4000, 0, true}, {1002, 0, false}, {1011, 0, false}, {3000, 0, false}}
	for _, tt := range tests {
		err := closeErrorOf(websocket.CloseError{Code: tt.status, Reason: "r"})
		var ce *session.CloseError
		if ok := errors.As(err, &ce); ok != tt.ok || ok && (ce.Code != tt.code || !ce.Remote || ce.Reason != "r") {
			t.Errorf("closeErrorOf(%d) = %#v, want code %d, %t", tt.status, err, tt.code, tt.ok)
		}
	}
}
