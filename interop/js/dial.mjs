// Connections of @moq/net that leave it no choice of transport or version.

import * as Moq from "@moq/net";
import Session from "@moq/qmux";

// dialWebSocket pins the version by its sub-protocol; "bare" leaves it to SETUP.
export async function dialWebSocket(url, version, steps) {
	const pinned = { protocols: [version], versions: { [version]: null }, requireProtocol: true };
	const transport = new Session(url, version === "bare" ? {} : pinned);
	await transport.ready;
	if (steps.includes("datagrams")) await datagramsAllowed(transport);
	return Moq.Connection.connect(new URL(url), { transport });
}

// dialWebTransport pins the version and the certificate, by its SHA-256 in hex.
export function dialWebTransport(url, version, hash) {
	return Moq.Connection.connect(new URL(url), {
		webtransport: { protocols: [version], serverCertificateHashes: [{ value: hash }] },
		websocket: { enabled: false },
	});
}

// datagramsAllowed waits for the relay's transport parameters. They come after "ready", and
// @moq/net looks only once, when it is given the transport, whether datagrams can be sent.
async function datagramsAllowed(transport) {
	const deadline = Date.now() + 3000;
	while (transport.datagrams.maxDatagramSize === 0) {
		if (Date.now() > deadline) throw new Error("the relay allows no datagrams");
		await new Promise((resolve) => setTimeout(resolve, 1));
	}
}
