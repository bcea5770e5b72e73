package moqt

// Numbers of the messages (§6.1). Where drafts differ, kinds says who uses them.
const (
	typeRequestUpdate         Type = 0x02
	typeSubscribe             Type = 0x03
	typeSubscribeOK           Type = 0x04
	typeRequestError          Type = 0x05
	typePublishNamespace      Type = 0x06
	typeRequestOK             Type = 0x07
	typeNamespace             Type = 0x08
	typePublishNamespaceDone  Type = 0x09
	typeUnsubscribe           Type = 0x0a
	typePublishDone           Type = 0x0b
	typePublishNamespaceStop  Type = 0x0c
	typeTrackStatus           Type = 0x0d
	typeNamespaceDone         Type = 0x0e
	typePublishSkipped        Type = 0x0f
	typeGoaway                Type = 0x10
	typeSubscribeNamespace    Type = 0x11
	typeUnsubscribeNamespace  Type = 0x14
	typeMaxRequestID          Type = 0x15
	typeFetch                 Type = 0x16
	typeFetchCancel           Type = 0x17
	typeFetchOK               Type = 0x18
	typeRequestsBlocked       Type = 0x1a
	typePublish               Type = 0x1d
	typePublishOK             Type = 0x1e
	typeClientSetup           Type = 0x20
	typeServerSetup           Type = 0x21
	typePublishStateNotify    Type = 0x22
	typeSubscribeNamespace18  Type = 0x50
	typeSubscribeTracks       Type = 0x51
	typeSetup                 Type = 0x2f00
	typePublishNamespaceErr14 Type = 0x08
	typeTrackStatusOK14       Type = 0x0e
	typeTrackStatusErr14      Type = 0x0f
	typeSubscribeNsOK14       Type = 0x12
	typeSubscribeNsErr14      Type = 0x13
	typeFetchErr14            Type = 0x19
	typePublishErr14          Type = 0x1f
)

// kind is one meaning of a type.
type kind struct {
	t           Type
	first, last Version
	name        string
	decode      func(*reader) Message
}

// kinds lists the control messages in the drafts that have them.
var kinds = [...]kind{
	{typeRequestUpdate, Draft14, Draft15, "SUBSCRIBE_UPDATE", decodeRequestUpdate},
	{typeRequestUpdate, Draft16, Draft22, "REQUEST_UPDATE", decodeRequestUpdate},
	{typeSubscribe, Draft14, Draft22, "SUBSCRIBE", decodeSubscribe},
	{typeSubscribeOK, Draft14, Draft22, "SUBSCRIBE_OK", decodeSubscribeOK},
	{typeRequestError, Draft14, Draft14, "SUBSCRIBE_ERROR", errorFor(ForSubscribe)},
	{typeRequestError, Draft15, Draft22, "REQUEST_ERROR", errorFor(ForAny)},
	{typePublishNamespace, Draft14, Draft22, "PUBLISH_NAMESPACE", decodePublishNamespace},
	{typeRequestOK, Draft14, Draft14, "PUBLISH_NAMESPACE_OK", okFor(ForPublishNamespace)},
	{typeRequestOK, Draft15, Draft22, "REQUEST_OK", okFor(ForAny)},
	{typePublishNamespaceErr14, Draft14, Draft14, "PUBLISH_NAMESPACE_ERROR", errorFor(ForPublishNamespace)},
	{typeNamespace, Draft16, Draft22, "NAMESPACE", decodeNamespace},
	{typePublishNamespaceDone, Draft14, Draft16, "PUBLISH_NAMESPACE_DONE", decodePublishNamespaceDone},
	{typeUnsubscribe, Draft14, Draft16, "UNSUBSCRIBE", decodeUnsubscribe},
	{typePublishDone, Draft14, Draft22, "PUBLISH_DONE", decodePublishDone},
	{typePublishNamespaceStop, Draft14, Draft16, "PUBLISH_NAMESPACE_CANCEL", decodePublishNamespaceCancel},
	{typeTrackStatus, Draft14, Draft22, "TRACK_STATUS", decodeTrackStatus},
	{typeTrackStatusOK14, Draft14, Draft14, "TRACK_STATUS_OK", okFor(ForTrackStatus)},
	{typeNamespaceDone, Draft16, Draft22, "NAMESPACE_DONE", decodeNamespaceDone},
	{typeTrackStatusErr14, Draft14, Draft14, "TRACK_STATUS_ERROR", errorFor(ForTrackStatus)},
	{typePublishSkipped, Draft17, Draft18, "PUBLISH_BLOCKED", decodePublishSkipped},
	{typePublishSkipped, Draft19, Draft22, "PUBLISH_SKIPPED", decodePublishSkipped},
	{typeGoaway, Draft14, Draft22, "GOAWAY", decodeGoaway},
	{typeSubscribeNamespace, Draft14, Draft17, "SUBSCRIBE_NAMESPACE", decodeSubscribeNamespace},
	{typeSubscribeNsOK14, Draft14, Draft14, "SUBSCRIBE_NAMESPACE_OK", okFor(ForSubscribeNamespace)},
	{typeSubscribeNsErr14, Draft14, Draft14, "SUBSCRIBE_NAMESPACE_ERROR", errorFor(ForSubscribeNamespace)},
	{typeUnsubscribeNamespace, Draft14, Draft15, "UNSUBSCRIBE_NAMESPACE", decodeUnsubscribeNamespace},
	{typeMaxRequestID, Draft14, Draft16, "MAX_REQUEST_ID", decodeMaxRequestID},
	{typeFetch, Draft14, Draft22, "FETCH", decodeFetch},
	{typeFetchCancel, Draft14, Draft16, "FETCH_CANCEL", decodeFetchCancel},
	{typeFetchOK, Draft14, Draft22, "FETCH_OK", decodeFetchOK},
	{typeFetchErr14, Draft14, Draft14, "FETCH_ERROR", errorFor(ForFetch)},
	{typeRequestsBlocked, Draft14, Draft16, "REQUESTS_BLOCKED", decodeRequestsBlocked},
	{typePublish, Draft14, Draft22, "PUBLISH", decodePublish},
	{typePublishOK, Draft14, Draft17, "PUBLISH_OK", okFor(ForPublish)},
	{typePublishErr14, Draft14, Draft14, "PUBLISH_ERROR", errorFor(ForPublish)},
	{typeClientSetup, Draft14, Draft16, "CLIENT_SETUP", decodeClientSetup},
	{typeServerSetup, Draft14, Draft16, "SERVER_SETUP", decodeServerSetup},
	{typePublishStateNotify, Draft20, Draft22, "PUBLISH_STATE_NOTIFY", decodePublishStateNotify},
	{typeSubscribeNamespace18, Draft18, Draft22, "SUBSCRIBE_NAMESPACE", decodeSubscribeNamespace},
	{typeSubscribeTracks, Draft18, Draft22, "SUBSCRIBE_TRACKS", decodeSubscribeTracks},
	{typeSetup, Draft17, Draft22, "SETUP", decodeSetup},
}

// kind returns what a type means in a draft, nil for nothing.
func (t Type) kind(v Version) *kind {
	for i := range kinds {
		if k := &kinds[i]; k.t == t && k.first <= v && v <= k.last {
			return k
		}
	}
	return nil
}

// Name returns the name of the message of that type, such as "SUBSCRIBE", for
// logs; empty if the draft has none.
func (t Type) Name(v Version) string {
	if k := t.kind(v); k != nil {
		return k.name
	}
	return ""
}
