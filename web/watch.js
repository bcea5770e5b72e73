// Watches the demo's broadcast: pictures on a canvas, with latency and bitrate.
// ?transport=websocket in the page's address does without WebTransport.

import { Meter, showBitrate, showLatency } from "./meter.js";
import { connect } from "./moq.js";

const MAX_AGE = 1000; // milliseconds behind the newest picture that are worth showing
const SHORTEST_WAIT = 500, LONGEST_WAIT = 8000; // milliseconds before another attempt
const STABLE = 10_000; // a session of so many milliseconds was a good one
const REFRESH = 500; // milliseconds

const $ = (id) => document.getElementById(id);
const picture = $("picture").getContext("2d");
const meter = new Meter();

/** @param {"starting" | "live" | "waiting" | "lost"} state @param {string} text */
function say(state, text) {
  $("state").dataset.state = state;
  $("state").textContent = text;
}

function sleep(milliseconds) {
  return new Promise((wake) => { setTimeout(wake, milliseconds); });
}

function refresh() {
  $("bitrate").textContent = showBitrate(meter.bitrate(performance.now()));
  $("latency").textContent = showLatency(meter.latency);
  $("frames").textContent = String(meter.frames);
  $("skipped").textContent = String(meter.skipped);
}

/** A frame is its send time, nanoseconds since 1970 in 8 bytes, then a JPEG. */
async function draw(payload) {
  const sent = Number(new DataView(payload.buffer, payload.byteOffset).getBigUint64(0) / 1000n) / 1000;
  meter.frame(performance.now(), payload.length, Date.now() - sent);
  const image = await createImageBitmap(new Blob([payload.subarray(8)], { type: "image/jpeg" }));
  picture.drawImage(image, 0, 0, picture.canvas.width, picture.canvas.height);
  image.close();
}

/** The first frame of a track's newest group, as JSON. */
async function readJSON(session, broadcast, name) {
  for await (const group of await session.subscribe(broadcast, name)) {
    for await (const { payload } of group) return JSON.parse(new TextDecoder().decode(payload));
  }
  throw new Error(`${name} is empty`);
}

/** Shows the broadcast until its track ends, or until signal says so. */
async function play(session, broadcast, signal) {
  const catalog = await readJSON(session, broadcast, "catalog.json");
  if (catalog.format !== "mjpeg") throw new Error(`pictures are ${catalog.format}`);
  picture.canvas.width = catalog.width;
  picture.canvas.height = catalog.height;
  const track = await session.subscribe(broadcast, catalog.track, { maxAge: MAX_AGE });
  if (signal.aborted) return track.close();
  signal.addEventListener("abort", () => track.close());
  say("live", "Live");
  let next = null; // the group that comes in order
  for await (const group of track) {
    if (next !== null && group.sequence < next) {
      group.close(); // late: a newer one was shown
      continue;
    }
    if (next !== null) meter.skipped += group.sequence - next;
    next = group.sequence + 1;
    await show(group, signal);
  }
}

async function show(group, signal) {
  const close = () => group.close();
  signal.addEventListener("abort", close);
  try {
    for await (const frame of group) await draw(frame.payload);
  } catch {
    meter.skipped++; // given up by the relay: it was too old
  } finally {
    signal.removeEventListener("abort", close);
  }
}

/** Plays on, whatever becomes of a track, until the function that it returns is called. */
function start(session, broadcast) {
  const quit = new AbortController();
  const run = async () => {
    while (!quit.signal.aborted) {
      await play(session, broadcast, quit.signal).catch(() => {}); // not there yet, or no more
      if (quit.signal.aborted) return;
      say("waiting", "Waiting for pictures");
      await sleep(SHORTEST_WAIT);
    }
  };
  run();
  return () => quit.abort();
}

/** One session, until it ends. */
async function watch(config) {
  const session = await open(config);
  session.goingAway.then(() => session.close());
  let stop = () => {};
  try {
    $("transport").textContent = session.kind;
    say("waiting", "Connected, waiting for the broadcast");
    for await (const { name, live } of session.announced(config.broadcast)) {
      if (name !== "") continue;
      stop(); // if it is announced again, somebody else may publish it
      stop = live ? start(session, config.broadcast) : () => {};
      if (!live) say("waiting", "The broadcast has ended, waiting for its return");
    }
  } finally {
    stop();
    session.close();
    $("transport").textContent = "–";
  }
}

async function open({ relay, webSocket, certificates }) {
  if (new URLSearchParams(location.search).get("transport") === "websocket") return connect(webSocket);
  return connect(relay, { webSocket, hashes: await fingerprints(certificates) });
}

/** Of the certificates that the relay made for itself; they change every few days. */
async function fingerprints(url) {
  if (!url) return [];
  const { certificates } = await (await fetch(url, { cache: "no-store" })).json();
  return certificates.map((c) => c.sha256);
}

/** Watches for good: one session after another, with growing pauses while they fail. */
async function run() {
  const config = await (await fetch("config.json")).json();
  $("relay").textContent = config.relay;
  $("broadcast").textContent = config.broadcast;
  for (let wait = SHORTEST_WAIT; ; wait = Math.min(wait * 2, LONGEST_WAIT)) {
    const began = performance.now();
    try {
      await watch(config);
      say("lost", "The connection was closed, trying again");
    } catch (err) {
      say("lost", `No connection (${err.message}), trying again`);
    }
    if (performance.now() - began > STABLE) wait = SHORTEST_WAIT;
    await sleep(wait * (0.5 + Math.random() / 2));
  }
}

setInterval(refresh, REFRESH);
run().catch((err) => say("lost", `The page does not know its relay: ${err.message}`));
