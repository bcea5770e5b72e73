// What @moq/net takes for granted and Node 20 lacks. Import it first.

import { WebSocket } from "ws";

globalThis.WebSocket ??= WebSocket;

Promise.withResolvers ??= () => {
	const r = {};
	r.promise = new Promise((resolve, reject) => Object.assign(r, { resolve, reject }));
	return r;
};

Set.prototype.difference ??= function (other) {
	return new Set([...this].filter((v) => !other.has(v)));
};
