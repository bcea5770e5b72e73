package moqt

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/moqmesh/moqmesh/moq/wire"
)

// builders make the message that a row's fields describe.
var builders = map[string]func(f fields, v Version) Message{
	"CLIENT_SETUP":                       buildSetup,
	"SERVER_SETUP":                       buildSetup,
	"SETUP":                              buildSetup,
	"SUBSCRIBE":                          func(f fields, v Version) Message { return buildSubscribe(f, v) },
	"TRACK_STATUS":                       buildTrackStatus,
	"SUBSCRIBE_OK":                       buildSubscribeOK,
	"SUBSCRIBE_ERROR":                    buildError(ForSubscribe),
	"REQUEST_ERROR":                      buildError(ForAny),
	"PUBLISH_NAMESPACE_ERROR":            buildError(ForPublishNamespace),
	"SUBSCRIBE_NAMESPACE_ERROR":          buildError(ForSubscribeNamespace),
	"FETCH_ERROR":                        buildError(ForFetch),
	"PUBLISH_ERROR":                      buildError(ForPublish),
	"REQUEST_OK":                         buildOK(ForAny),
	"REQUEST_OK (TRACK_STATUS)":          buildOK(ForAny),
	"PUBLISH_NAMESPACE_OK":               buildOK(ForPublishNamespace),
	"SUBSCRIBE_NAMESPACE_OK":             buildOK(ForSubscribeNamespace),
	"PUBLISH_OK":                         buildOK(ForPublish),
	"SUBSCRIBE_UPDATE":                   buildUpdate,
	"REQUEST_UPDATE":                     buildUpdate,
	"REQUEST_UPDATE (PUBLISH_NAMESPACE)": buildUpdate,
	"UNSUBSCRIBE":                        func(f fields, v Version) Message { return Unsubscribe{f.uint("request_id")} },
	"FETCH_CANCEL":                       func(f fields, v Version) Message { return FetchCancel{f.uint("request_id")} },
	"MAX_REQUEST_ID":                     func(f fields, v Version) Message { return MaxRequestID{f.uint("request_id")} },
	"REQUESTS_BLOCKED":                   func(f fields, v Version) Message { return RequestsBlocked{f.uint("request_id")} },
	"PUBLISH":                            buildPublish,
	"PUBLISH_DONE": func(f fields, v Version) Message {
		if status := f.uint("status"); status != 2 {
			f.tb.Fatalf("status %d", status)
		}
		return PublishDone{RequestID: f.uint("request_id"), Status: DoneTrackEnded, Streams: f.optional("stream_count"), Reason: f.string("reason")}
	},
	"PUBLISH_NAMESPACE": buildPublishNamespace,
	"PUBLISH_NAMESPACE_DONE": func(f fields, v Version) Message {
		return PublishNamespaceDone{RequestID: f.uint("request_id"), Namespace: f.namespace("namespace")}
	},
	"PUBLISH_NAMESPACE_CANCEL": func(f fields, v Version) Message {
		return PublishNamespaceCancel{
			RequestID: f.uint("request_id"), Namespace: f.namespace("namespace"),
			Code: codeNames[f.uint("code")], Reason: f.string("reason"),
		}
	},
	"SUBSCRIBE_NAMESPACE": func(f fields, v Version) Message {
		f.uint("required_request_id_delta")
		return SubscribeNamespace{
			RequestID: f.uint("request_id"), Prefix: f.namespace("prefix"), Wants: Wants(f.uint("options")), Params: buildParams(f, v),
		}
	},
	"SUBSCRIBE_TRACKS": func(f fields, v Version) Message {
		return SubscribeTracks{RequestID: f.uint("request_id"), Prefix: f.namespace("prefix"), Params: buildParams(f, v)}
	},
	"UNSUBSCRIBE_NAMESPACE": func(f fields, v Version) Message { return UnsubscribeNamespace{RequestID: f.uint("request_id")} },
	"NAMESPACE": func(f fields, v Version) Message {
		return Namespace{Suffix: f.namespace("suffix"), Route: buildRoute(f)}
	},
	"NAMESPACE_DONE":  func(f fields, v Version) Message { return NamespaceDone{f.namespace("suffix")} },
	"PUBLISH_BLOCKED": buildSkipped,
	"PUBLISH_SKIPPED": buildSkipped,
	"FETCH":           buildFetch,
	"FETCH_OK":        buildFetchOK,
	"GOAWAY": func(f fields, v Version) Message {
		timeout := time.Duration(f.uint("timeout")) * time.Millisecond
		return Goaway{URI: f.string("uri"), Timeout: timeout, RequestID: f.optional("request_id")}
	},
	"PUBLISH_STATE_NOTIFY": func(f fields, v Version) Message { return PublishStateNotify{buildParams(f, v)} },
}

// codeNames are the request codes of the rows, which are the same wherever they
// occur but for 4 and 5, which are of 14.
var codeNames = map[uint64]RequestCode{
	1: Unauthorized, 3: NotSupported, 5: InvalidRange, 0x10: DoesNotExist, 0x20: Uninterested, 0x34: Redirected, 404: OtherRequestCode,
}

func buildSetup(f fields, v Version) Message {
	m := Setup{
		Path: f.string("path"), Authority: f.string("authority"), MaxRequestID: f.uint("max_request_id", "MAX_REQUEST_ID"),
		Implementation: f.string("implementation", "IMPLEMENTATION"), HopID: f.optional("hop_id"), RelayHops: f.optional("RELAY_HOPS"),
		RelayCost: f.optional("relay_cost"), Solicit: f.flag("solicit", "SOLICIT"), Hidden: f.flag("hidden").V,
	}
	if token, ok := f.inner("authorization_token"); ok {
		m.Tokens = []Token{buildToken(token, hex.DecodeString)}
	}
	var codes []number
	f.take(&codes, "versions")
	for _, code := range codes {
		m.Versions = append(m.Versions, uint64(code))
	}
	if code := f.optional("version"); code.OK {
		m.Versions = []uint64{code.V}
	}
	return m
}

func buildToken(f fields, value func(string) ([]byte, error)) Token {
	b, err := value(f.string("value"))
	if err != nil {
		f.tb.Fatal(err)
	}
	t := Token{Action: TokenAction(f.uint("alias_type")), Type: f.uint("token_type"), Value: b}
	f.done()
	return t
}

func buildRoute(f fields) Route {
	return Route{HopPath: f.hops("hop_path"), Cost: f.uint("route_cost")}
}

func (f fields) hops(name string) (hops []uint64) {
	f.tb.Helper()
	f.take(&hops, name)
	return hops
}

func (f fields) track() Track {
	f.tb.Helper()
	return Track{Namespace: f.namespace("namespace"), Name: f.string("name", "track")}
}

func buildSubscribe(f fields, v Version) Subscribe {
	f.uint("required_request_id_delta")
	m := Subscribe{RequestID: 2, Track: f.track(), Params: buildParams(f, v)}
	if id := f.optional("request_id"); id.OK {
		m.RequestID = id.V
	}
	// Some rows leave out what they are not about.
	if p := &m.Params; v == Draft14 && m.Track.Name == "t" {
		p.Priority, p.GroupOrder, p.Forward = Some[uint8](128), Descending, Some(true)
		p.Filter = Some(Filter{Kind: FilterNextObject})
	} else if v >= Draft20 && p.IncludeProperties.OK && p.Fill == nil {
		p.Priority, p.GroupOrder, p.Forward = Some[uint8](128), Descending, Some(true)
	}
	return m
}

func buildTrackStatus(f fields, v Version) Message {
	m := buildSubscribe(f, v)
	if v == Draft14 { // what the peer fills in
		m.Params.Priority, m.Params.GroupOrder, m.Params.Forward = Some[uint8](0), Descending, Some(false)
		m.Params.Filter = Some(Filter{Kind: FilterNextObject})
	}
	return TrackStatus(m)
}

func buildSubscribeOK(f fields, v Version) Message {
	m := SubscribeOK{RequestID: f.uint("request_id"), Alias: f.uint("track_alias")}
	if v >= Draft17 {
		m.Properties = buildProperties(f)
	}
	m.Params = buildParams(f, v)
	return m
}

// buildProperties are the track properties of a row, under the names of either
// peer.
func buildProperties(f fields) (ps Properties) {
	in, ok := f.inner("track_properties")
	if !ok {
		in = f
	}
	for _, p := range []struct {
		id    uint64
		names []string
	}{
		{PropertyTimescale, []string{"TIMESCALE", "timescale"}},
		{PropertyPriority, []string{"DEFAULT_PUBLISHER_PRIORITY"}},
		{PropertyGroupOrder, []string{"DEFAULT_PUBLISHER_GROUP_ORDER", "group_order"}},
	} {
		if n := in.optional(p.names...); n.OK {
			ps = append(ps, Property{ID: p.id, Number: n.V})
		}
	}
	if ok {
		in.done()
	}
	return ps
}

func buildError(request Request) func(f fields, v Version) Message {
	return func(f fields, v Version) Message {
		m := RequestError{For: request, RequestID: f.uint("request_id"), Reason: f.string("reason")}
		code := f.uint("code")
		m.Code = codeNames[code]
		if code == 4 && v == Draft14 {
			m.Code = map[Request]RequestCode{ForSubscribe: DoesNotExist, ForPublishNamespace: Uninterested}[request]
		}
		if m.Code == OtherRequestCode {
			m.Number = code
		}
		// "0 = never retry, n = wait n-1 ms"
		if retry := f.uint("retry_interval", "retry"); retry > 0 {
			m.Retry = Some(time.Duration(retry-1) * time.Millisecond)
		}
		if in, ok := f.inner("redirect"); ok {
			m.Redirect = Redirect{URI: in.string("uri"), Track: in.track()}
			in.done()
		}
		return m
	}
}

func buildOK(request Request) func(f fields, v Version) Message {
	return func(f fields, v Version) Message {
		m := RequestOK{For: request, RequestID: f.uint("request_id")}
		if v >= Draft18 {
			m.Properties = buildProperties(f)
		}
		m.Params = buildParams(f, v)
		return m
	}
}

func buildUpdate(f fields, v Version) Message {
	f.uint("required_request_id_delta")
	m := RequestUpdate{RequestID: f.uint("request_id"), Existing: f.uint("existing_request_id", "subscription_request_id")}
	if start := f.location("start"); start.OK {
		if end := f.uint("end_group"); end != 0 {
			f.tb.Fatalf("end group %d", end)
		}
		m.Params.Filter = Some(Filter{Kind: FilterAbsolute, Start: start.V})
	}
	filter := m.Params.Filter
	m.Params = buildParams(f, v)
	if filter.OK {
		m.Params.Filter = filter
	}
	return m
}

func buildPublish(f fields, v Version) Message {
	f.uint("required_request_id_delta")
	m := Publish{RequestID: f.uint("request_id"), Track: f.track(), Alias: f.uint("track_alias")}
	if v >= Draft17 { // where the group order is a property
		m.Properties = buildProperties(f)
	}
	m.Params = buildParams(f, v)
	return m
}

func buildPublishNamespace(f fields, v Version) Message {
	f.uint("required_request_id_delta")
	id, ns, route := f.optional("request_id"), f.namespace("namespace"), buildRoute(f)
	if !id.OK { // composed rows are about the path alone
		return PublishNamespace{RequestID: 1, Namespace: TrackNamespace{"a", "b"}, Route: route}
	}
	return PublishNamespace{RequestID: id.V, Namespace: ns, Route: route}
}

func buildSkipped(f fields, v Version) Message {
	return PublishSkipped{Track{Namespace: f.namespace("suffix"), Name: f.string("name")}}
}

func buildFetch(f fields, v Version) Message {
	f.uint("required_request_id_delta")
	m := Fetch{RequestID: f.uint("request_id"), Kind: FetchStandalone}
	if in, ok := f.inner("standalone"); ok {
		m.Track = in.track()
		end := in.location("end").V
		if end.Object != 0 {
			f.tb.Fatalf("end %v", end)
		}
		m.Range = Filter{Kind: FilterAbsolute, Start: in.location("start").V, EndGroup: Some(end.Group)}
		in.done()
	} else if in, ok := f.inner("relative_joining"); ok {
		m.Kind, m.Joining, m.Group = FetchRelativeJoining, in.uint("joining_request_id"), in.uint("offset")
	} else if in, ok := f.inner("absolute_joining"); ok {
		m.Kind, m.Joining, m.Group = FetchAbsoluteJoining, in.uint("joining_request_id"), in.uint("group")
	} else {
		m.Track = f.track()
	}
	p := buildParams(f, v)
	if v >= Draft20 {
		m.Range, p.Filter = p.Filter.V, Optional[Filter]{}
	}
	m.Params = p
	return m
}

func buildFetchOK(f fields, v Version) Message {
	end := f.location("end").V
	m := FetchOK{
		RequestID: f.uint("request_id"), EndOfTrack: f.uint("end_of_track") == 1,
		End: End{Group: end.Group, Object: Some(end.Object)}, Params: buildParams(f, v),
	}
	if v <= Draft19 { // one past the last object
		m.End.Object.V--
	}
	return m
}

// buildParams are the parameters of a row, under the names of either peer or in
// a field of their own.
func buildParams(f fields, v Version) Params {
	if in, ok := f.inner("params"); ok {
		p := buildParams(in, v)
		in.done()
		return p
	}
	p := Params{
		Priority:    f.octet("priority", "subscriber_priority", "SUBSCRIBER_PRIORITY"),
		GroupOrder:  GroupOrder(f.uint("group_order", "GROUP_ORDER")),
		Forward:     f.flag("forward", "FORWARD"),
		Largest:     f.location("largest", "LARGEST_OBJECT"),
		FillTimeout: f.millis("FILL_TIMEOUT"), IncludeProperties: f.flag("include_properties", "INCLUDE_PROPERTIES"),
		HopPath: f.hops("hop_path"), RouteCost: f.optional("route_cost"), Hidden: f.flag("hidden").V,
	}
	if expires := f.uint("expires"); expires > 0 {
		f.tb.Fatalf("expires %d", expires)
	}
	var filter string
	if f.take(&filter, "filter", "LOCATION_FILTER") {
		p.Filter = buildFilter(f.tb, filter, v)
	}
	if in, ok := f.inner("fill", "FILL_PARAMETERS"); ok {
		fill := buildParams(in, v)
		p.Fill = &Fill{Timeout: fill.FillTimeout, Priority: fill.Priority, Filter: fill.Filter, GroupOrder: fill.GroupOrder}
		in.done()
	}
	if in, ok := f.inner("AUTHORIZATION_TOKEN"); ok {
		p.Tokens = []Token{buildToken(in, func(s string) ([]byte, error) { return []byte(s), nil })}
	}
	if ns := f.namespace("TRACK_NAMESPACE_PREFIX"); ns != nil {
		p.Prefix = Some(ns)
	}
	if in, ok := f.inner("OBJECTID_FILTER"); ok {
		p.Ranges = []RangeFilter{buildRanges(in, v)}
	}
	return p
}

func (f fields) millis(name string) Optional[time.Duration] {
	f.tb.Helper()
	n := f.optional(name)
	return Optional[time.Duration]{time.Duration(n.V) * time.Millisecond, n.OK}
}

func buildRanges(f fields, v Version) RangeFilter {
	var pairs [][2]uint64
	f.take(&pairs, "ranges")
	m := Ranges{Set: uint8(f.uint("set"))}
	for _, pair := range pairs {
		m.Ranges = append(m.Ranges, Range{pair[0], Some(pair[1])})
	}
	f.done()
	return NewRangeFilter(RangeObject, v, m)
}

// buildFilter reads the rows' notation of filters.
func buildFilter(tb testing.TB, s string, v Version) Optional[Filter] {
	tb.Helper()
	f := Filter{Kind: FilterAbsolute}
	var group, object uint64
	scan := func(format string, into ...any) bool {
		n, err := fmt.Sscanf(s, format, into...)
		return n == len(into) && err == nil
	}
	switch {
	case s == "unfiltered" && v > Draft14:
		return Optional[Filter]{}
	case s == "unfiltered":
	case s == "none (type 0)":
		f.Kind = FilterNone
	case s == "next_object", s == "LargestObject":
		f.Kind = FilterNextObject
	case s == "next_group":
		f.Kind = FilterRelative
	case scan("relative(%d)", &f.Back):
		f.Kind = FilterRelative
	case scan("absolute_start %d/%d", &f.Start.Group, &f.Start.Object), scan("absolute start {%d,%d}", &f.Start.Group, &f.Start.Object):
	case scan("absolute_range %d/%d..group %d", &f.Start.Group, &f.Start.Object, &group),
		scan("absolute %d/%d..group %d", &f.Start.Group, &f.Start.Object, &group):
		f.EndGroup = Some(group)
	case scan("absolute %d/%d..%d/%d", &f.Start.Group, &f.Start.Object, &group, &object),
		scan("{%d,%d}..{%d,%d} inclusive", &f.Start.Group, &f.Start.Object, &group, &object):
		f.EndGroup, f.EndObject = Some(group), Some(object)
	default:
		tb.Fatalf("no filter %q", s)
	}
	return Some(f)
}

// shuffled reports whether the row has parameters in another order than ours,
// which is legal up to 15.
func (row vector) shuffled() bool {
	return row.Version <= Draft15 && strings.Contains(row.Source, "@moq/net") &&
		slices.Contains([]string{"CLIENT_SETUP", "SERVER_SETUP", "SUBSCRIBE"}, row.Message)
}

// checkMessage checks one row of a framed message in both directions, that
// nothing shorter passes for it, and nothing longer.
func checkMessage(t *testing.T, row vector) {
	d, whole := row.dialect(), row.bytes(t)
	kind, body := readWhole(t, whole, d.Version)
	if row.rejected() {
		if m, err := Decode(kind, body, d); err == nil {
			t.Errorf("Decode(%x) = %+v, want it refused", body, m)
		} else if got := CloseCodeFor(err); got != CloseProtocolViolation {
			t.Errorf("%v closes with %v", err, got)
		}
		return
	}
	build := builders[row.Message]
	if build == nil {
		t.Fatalf("no check for a row of %q", row.Message)
	}
	f := fields{t, row.Fields}
	want := build(f, d.Version)
	f.done()
	if m, ok := want.(Setup); ok {
		m.Server = row.Message == "SERVER_SETUP"
		want = m
	}
	if got, _, _ := strings.Cut(row.Message, " ("); kind.Name(d.Version) != got {
		t.Errorf("type %#x is %q, want %q", uint64(kind), kind.Name(d.Version), got)
	}
	got, err := Decode(kind, body, d)
	if err != nil {
		t.Fatalf("Decode(%x): %v", body, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Decode(%x): -want +got\n%s", body, diff)
	}
	if !row.shuffled() {
		if got := want.Append([]byte("ahead"), d); !bytes.Equal(got, append([]byte("ahead"), whole...)) {
			t.Errorf("%+v.Append = %x, want %x", want, got[5:], whole)
		}
		checkCuts(t, d, whole, kind, body)
	}
}

func readWhole(t *testing.T, whole []byte, v Version) (Type, []byte) {
	t.Helper()
	r := bytes.NewReader(whole)
	kind, body, err := ReadMessage(r, v, nil)
	if err != nil || r.Len() > 0 {
		t.Fatalf("read %x: %v, %d bytes left", whole, err, r.Len())
	}
	return kind, body
}

// checkCuts checks that no truncation passes, but where a message ends with
// what may be left out; then it must be exactly what we would write.
func checkCuts(t *testing.T, d Dialect, whole []byte, kind Type, body []byte) {
	t.Helper()
	for i := range whole {
		want := io.ErrUnexpectedEOF
		if i == 0 {
			want = io.EOF
		}
		if _, _, err := ReadMessage(bytes.NewReader(whole[:i]), d.Version, nil); err != want {
			t.Errorf("read %x: %v, want %v", whole[:i], err, want)
		}
	}
	openEnded := map[Type]bool{typeSetup: true, typeSubscribeOK: true, typeGoaway: true, typeRequestOK: true, typePublish: true}
	for i := range body {
		m, err := Decode(kind, body[:i], d)
		if err == nil && openEnded[kind] {
			if _, again := readWhole(t, m.Append(nil, d), d.Version); bytes.Equal(again, body[:i]) {
				continue
			}
		}
		if !errors.Is(err, wire.ErrShort) {
			t.Errorf("Decode(%x) = %+v, %v, want %v", body[:i], m, err, wire.ErrShort)
		}
	}
	if kind == typeGoaway && d.Version == Draft18 {
		return // one more byte is a request id
	}
	if m, err := Decode(kind, append(body[:len(body):len(body)], 0), d); err == nil {
		t.Errorf("Decode(%x 00) = %+v, want it refused", body, m)
	}
}
