// Opens a bare WebTransport session, waits for the relay to close it and leaves in
// window.result what a page can read about that.

import { query } from "../query.mjs";

const hash = Uint8Array.from(query.hash.match(/../g), (b) => Number.parseInt(b, 16));

try {
	const session = new WebTransport(query.url, {
		serverCertificateHashes: [{ algorithm: "sha-256", value: hash }],
		protocols: query.protocol ? [query.protocol] : [],
	});
	await session.ready;
	if (query.send) await send(session, query.send);
	const { closeCode, reason } = await session.closed;
	window.result = { closeCode, reason };
} catch (err) {
	window.result = { error: String(err) };
}

// send opens a uni stream with these bytes, given in hex.
async function send(session, hex) {
	const writer = (await session.createUnidirectionalStream()).getWriter();
	await writer.write(Uint8Array.from(hex.match(/../g), (b) => Number.parseInt(b, 16)));
}
