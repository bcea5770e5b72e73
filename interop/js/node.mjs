// Runs the exchange in Node over WebSocket: node node.mjs URL VERSION NAME [STEPS].
// VERSION is the sub-protocol that the library pins, or "bare" to agree on one in SETUP.
// STEPS are the optional steps, separated by commas. stdout ends with the result as JSON.

import "./node20.mjs";
import { dialWebSocket } from "./dial.mjs";
import { transfer } from "./transfer.mjs";

const [url, version, name, list] = process.argv.slice(2);
const steps = list ? list.split(",") : [];

try {
	const result = await transfer({ connect: () => dialWebSocket(url, version, steps), name, steps });
	console.log(JSON.stringify(result));
	process.exit(0);
} catch (err) {
	console.error(err);
	process.exit(1);
}
