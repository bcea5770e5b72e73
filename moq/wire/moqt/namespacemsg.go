package moqt

// Namespace advertises a namespace on the stream of a [SubscribeNamespace],
// NAMESPACE (§6.2); 16 and later. The same suffix again replaces what was said
// before.
type Namespace struct {
	Suffix TrackNamespace // below the prefix; empty is the prefix itself
	Route  Route
}

// Append appends the framed message.
func (m Namespace) Append(b []byte, d Dialect) []byte {
	b, start := openMessage(b, d, typeNamespace)
	b = m.Suffix.append(b, d.Version.Encoding())
	if d.cluster() {
		b = d.appendParams(b, m.Route.params())
	}
	return closeMessage(b, start)
}

func decodeNamespace(r *reader) Message {
	m := Namespace{Suffix: r.namespaceAlone()}
	if r.d.cluster() {
		m.Route = r.route(r.params(nil))
	}
	return m
}

// NamespaceDone withdraws a [Namespace], NAMESPACE_DONE; 16 and later.
type NamespaceDone struct {
	Suffix TrackNamespace // as it was advertised
}

// Append appends the framed message.
func (m NamespaceDone) Append(b []byte, d Dialect) []byte {
	b, start := openMessage(b, d, typeNamespaceDone)
	return closeMessage(m.Suffix.append(b, d.Version.Encoding()), start)
}

func decodeNamespaceDone(r *reader) Message { return NamespaceDone{r.namespaceAlone()} }

// PublishSkipped says that a track below the prefix will not be published,
// PUBLISH_BLOCKED on 17 and 18, PUBLISH_SKIPPED later (§6.2).
type PublishSkipped struct {
	Track Track // its namespace is the suffix below the prefix
}

// Append appends the framed message.
func (m PublishSkipped) Append(b []byte, d Dialect) []byte {
	b, start := openMessage(b, d, typePublishSkipped)
	return closeMessage(m.Track.append(b, d.Version.Encoding()), start)
}

func decodePublishSkipped(r *reader) Message { return PublishSkipped{r.track()} }
