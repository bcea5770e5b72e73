// What the test asked of this page, from its address.
export const query = Object.fromEntries(new URLSearchParams(location.search));

// only takes the other transport away, so that the libraries cannot fall back to it.
export function only(transport) {
	delete globalThis[transport === "webtransport" ? "WebSocket" : "WebTransport"];
}
