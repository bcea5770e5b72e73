// Opens a bare WebTransport session, waits for the relay to close it and leaves in
// window.result what a page can read about that. window.met says that the relay has opened
// a stream of its own.

import { query } from "../query.mjs";

const bytes = (hex) => Uint8Array.from(hex.match(/../g), (b) => Number.parseInt(b, 16));

async function send(stream, hex) {
	await stream.getWriter().write(bytes(hex));
}

async function meet(session) {
	const { value } = await session.incomingUnidirectionalStreams.getReader().read();
	window.met = value !== undefined;
}

try {
	const session = new WebTransport(query.url, {
		serverCertificateHashes: [{ algorithm: "sha-256", value: bytes(query.hash) }],
		protocols: [query.protocol],
	});
	await session.ready;
	meet(session).catch(() => {}); // a session that is closed first has nothing to meet
	if (query.uni) await send(await session.createUnidirectionalStream(), query.uni);
	if (query.bidi) await send((await session.createBidirectionalStream()).writable, query.bidi);
	const { closeCode, reason } = await session.closed;
	window.result = { closeCode, reason };
} catch (err) {
	window.result = { error: String(err) };
}
