// One Chromium for all cells, driven by the Go tests over stdin and stdout, a JSON object a
// line: {id, op, page, ...} is answered by {id, value} or {id, error}. The operations are
// below. It ends, with Chromium, when stdin does.

import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const browser = await chromium.launch({
	executablePath: process.argv[2],
	args: [
		"--no-sandbox",
		"--enable-quic",
		"--autoplay-policy=no-user-gesture-required",
		"--use-fake-device-for-media-stream",
		"--use-fake-ui-for-media-stream",
		// Two pages share one screen: the one behind must go on drawing.
		"--disable-background-timer-throttling",
		"--disable-backgrounding-occluded-windows",
		"--disable-renderer-backgrounding",
	],
});

const pages = new Map();

const operations = {
	async open({ page, url }) {
		const context = await browser.newContext({ permissions: ["camera", "microphone"] });
		const p = await context.newPage();
		pages.set(page, p);
		p.on("console", (m) => console.error(`page ${page}: ${m.type()}: ${m.text()}`));
		p.on("pageerror", (err) => console.error(`page ${page}: uncaught: ${err.stack}`));
		await p.goto(url);
	},
	// wait waits until the expression is true in the page, and returns its value.
	async wait({ page, expression, limit }) {
		const handle = await pages.get(page).waitForFunction(expression, undefined, { timeout: limit });
		return handle.jsonValue();
	},
	async evaluate({ page, expression }) {
		return pages.get(page).evaluate(expression);
	},
	// look changes how the page is seen: colour scheme, and width in pixels.
	async look({ page, expression, limit }) {
		const p = pages.get(page);
		await p.emulateMedia({ colorScheme: expression });
		await p.setViewportSize({ width: limit, height: 800 });
	},
	async screenshot({ page, path }) {
		await pages.get(page).screenshot({ path });
	},
	async close({ page }) {
		await pages.get(page).context().close();
		pages.delete(page);
	},
};

async function answer(line) {
	const request = JSON.parse(line);
	try {
		const value = await operations[request.op](request);
		return { id: request.id, value };
	} catch (err) {
		return { id: request.id, error: String(err) };
	}
}

const lines = createInterface({ input: process.stdin });
lines.on("line", async (line) => process.stdout.write(`${JSON.stringify(await answer(line))}\n`));
lines.on("close", async () => {
	await browser.close();
	process.exit(0);
});
