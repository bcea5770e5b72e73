// Watches the demo's broadcast: pictures on a canvas, with latency and bitrate.
import { connect } from "./moq.js";

const $ = (id) => document.getElementById(id);
const picture = $("picture").getContext("2d");

/** @param {"starting" | "live" | "waiting" | "lost"} state @param {string} text */
function say(state, text) {
  $("state").dataset.state = state;
  $("state").textContent = text;
}

/** Figures of the last second, shown twice a second. */
class Meter {
  #bytes = /** @type {[number, number][]} */ ([]);
  #latency = NaN;
  frames = 0;
  skipped = 0;

  frame(size, latency) {
    this.frames++;
    this.#latency = Number.isNaN(this.#latency) ? latency : this.#latency * 0.9 + latency * 0.1;
    this.#bytes.push([performance.now(), size]);
  }

  show() {
    const since = performance.now() - 1000;
    this.#bytes = this.#bytes.filter(([at]) => at >= since);
    const bits = this.#bytes.reduce((sum, [, size]) => sum + size * 8, 0);
    $("bitrate").textContent = bits >= 1e6 ? `${(bits / 1e6).toFixed(2)} Mbit/s` : `${Math.round(bits / 1000)} kbit/s`;
    $("latency").textContent = Number.isNaN(this.#latency) ? "–" : `${Math.max(this.#latency, 0).toFixed(1)} ms`;
    $("frames").textContent = String(this.frames);
    $("skipped").textContent = String(this.skipped);
  }
}

const meter = new Meter();
setInterval(() => meter.show(), 500);

/** A frame is its send time, nanoseconds since 1970 in 8 bytes, then a JPEG. */
async function draw(payload) {
  const sent = Number(new DataView(payload.buffer, payload.byteOffset).getBigUint64(0) / 1000n) / 1000;
  meter.frame(payload.length, Date.now() - sent);
  const image = await createImageBitmap(new Blob([payload.subarray(8)], { type: "image/jpeg" }));
  picture.drawImage(image, 0, 0, picture.canvas.width, picture.canvas.height);
  image.close();
}

async function play(session, config) {
  const track = await session.subscribe(config.broadcast, "video", { maxAge: 1000 });
  say("live", "Live over WebTransport");
  let expected = -1;
  for await (const group of track) {
    if (group.sequence < expected) continue; // late: a newer one was shown
    if (expected >= 0) meter.skipped += group.sequence - expected;
    expected = group.sequence + 1;
    try {
      for await (const frame of group) await draw(frame.payload);
    } catch {
      meter.skipped++; // given up by the relay: it was too old
    }
  }
}

/** One session, until it ends. */
async function watch(config) {
  const hashes = (await (await fetch(config.certificates)).json()).certificates.map((c) => c.sha256);
  const session = await connect(config.relay, { hashes });
  try {
    say("waiting", "Connected, waiting for the broadcast");
    for await (const { name, live } of session.announced(config.broadcast)) {
      if (name === "" && live) await play(session, config);
      say("waiting", "The broadcast has ended, waiting for its return");
    }
  } finally {
    session.close();
  }
}

const config = await (await fetch("config.json")).json();
$("relay").textContent = config.relay;
$("broadcast").textContent = config.broadcast;
for (let wait = 500; ; wait = Math.min(wait * 2, 8000)) {
  const began = performance.now();
  try {
    await watch(config);
    say("lost", "Connection closed, trying again");
  } catch (err) {
    say("lost", `No connection (${err.message}), trying again`);
  }
  if (performance.now() - began > 10_000) wait = 500;
  await new Promise((resolve) => setTimeout(resolve, wait * (0.5 + Math.random() / 2)));
}
