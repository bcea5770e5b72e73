// Runs the exchange in Node over WebSocket: node node.mjs URL VERSION NAME [STEPS].
// VERSION is the sub-protocol that the library pins, or "bare" to agree on one in SETUP.
// STEPS are the optional steps, separated by commas. stdout ends with the result as JSON.

import "./node20.mjs";
import * as Moq from "@moq/net";
import Session from "@moq/qmux";
import { transfer } from "./transfer.mjs";

const [url, version, name, list] = process.argv.slice(2);
const steps = list ? list.split(",") : [];

async function connect() {
	const pinned = { protocols: [version], versions: { [version]: null }, requireProtocol: true };
	const transport = new Session(url, version === "bare" ? {} : pinned);
	await transport.ready;
	if (steps.includes("datagrams")) await datagramsAllowed(transport);
	return Moq.Connection.connect(new URL(url), { transport });
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

try {
	const result = await transfer({ connect, name, steps });
	console.log(JSON.stringify(result));
	process.exit(0);
} catch (err) {
	console.error(err);
	process.exit(1);
}
