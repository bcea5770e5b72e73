// The exchange of transfer.mjs in a page; the outcome is left in window.result.

import { dialWebSocket, dialWebTransport } from "../dial.mjs";
import { transfer } from "../transfer.mjs";
import { query } from "../query.mjs";

const steps = query.steps ? query.steps.split(",") : [];

function connect() {
	if (query.transport === "websocket") return dialWebSocket(query.url, query.version, steps);
	return dialWebTransport(query.url, query.version, query.hash);
}

try {
	window.result = await transfer({ connect, name: query.name, steps });
} catch (err) {
	window.result = { error: String(err.stack) };
}
