import assert from "node:assert/strict";
import { test } from "node:test";

import { Reader } from "../bytes.js";
import { Session } from "../moq.js";
import { hex, unhex } from "./hex.mjs";

/** A transport whose other end the test holds. */
class FakeTransport {
  /** Streams that the client opened: what it writes, and a writer to answer. */
  requests = [];
  #groups;
  #asks;

  constructor() {
    this.closed = new Promise(() => {});
    this.incomingUnidirectionalStreams = new ReadableStream({ start: (c) => { this.#groups = c; } });
    this.incomingBidirectionalStreams = new ReadableStream({ start: (c) => { this.#asks = c; } });
  }

  async createBidirectionalStream() {
    const there = new TransformStream(undefined, { highWaterMark: 1e6 }), back = new TransformStream(undefined, { highWaterMark: 1e6 });
    this.requests.push({ reader: there.readable.getReader(), writer: back.writable.getWriter() });
    return { readable: back.readable, writable: there.writable };
  }

  async createUnidirectionalStream() {
    return (await this.createBidirectionalStream()).writable;
  }

  /** Sends a stream of groups to the client. */
  group(text) {
    this.#groups.enqueue(new Blob([unhex(text)]).stream());
  }

  /** Sends a request to the client, and returns what it answers. */
  ask(text) {
    const answer = new TransformStream(undefined, { highWaterMark: 1e6 });
    const readable = new ReadableStream({ start: (c) => c.enqueue(unhex(text)) });
    this.#asks.enqueue({ readable, writable: answer.writable });
    return new Reader(answer.readable);
  }

  end() {
    this.#groups.close();
    this.#asks.close();
  }

  /** The next request: its bytes, once it is there. */
  async request() {
    while (this.requests.length === 0) await new Promise((done) => { setImmediate(done); });
    const { reader, writer } = this.requests.shift();
    return { text: hex((await reader.read()).value), reader, answer: (text) => writer.write(unhex(text)), end: () => writer.close() };
  }
}

/** Subscribes to room/alice video as subscription 0. */
async function subscribed() {
  const transport = new FakeTransport();
  const session = new Session(transport);
  const subscribing = session.subscribe("room/alice", "video", { priority: 5, maxAge: 1000 });
  const info = await transport.request();
  assert.equal(info.text, "06110a726f6f6d2f616c69636505766964656f"); // TRACK
  info.answer("067f00538843e8");
  const subscription = await transport.request();
  assert.equal(subscription.text, "0218000a726f6f6d2f616c69636505766964656f050043e80000"); // SUBSCRIBE
  return { transport, track: await subscribing, subscription };
}

test("setup says that we only read, and names a hop", async () => {
  const transport = new FakeTransport();
  const done = new Session(transport).setup();
  const r = new Reader(new Blob([unhex((await transport.request()).text)]).stream());
  assert.equal(await r.varint(), 1); // a SETUP stream
  const m = await r.message();
  assert.deepEqual([m.varint(), m.varint(), hex(m.bytes()), m.varint()], [2, 3, "02", 5]);
  m.bytes();
  m.end();
  assert.equal(await r.more(), false);
  await done;
});

test("groups and their frames", async () => {
  const { transport, track, subscription } = await subscribed();
  assert.equal(track.timescale, 1000);
  subscription.answer("000100"); // START 0
  transport.group("00020000" + "47d0026b30" + "4042026430"); // group 0: k0 at 1000, d0 at 1033
  transport.group("00020001" + "47d000"); // group 1: an empty frame at 1000
  subscription.answer("010102"); // END 2
  const got = [];
  for await (const group of track) {
    for await (const { timestamp, payload } of group) got.push([group.sequence, timestamp, Buffer.from(payload).toString()]);
    if (group.sequence === 1) subscription.end();
  }
  assert.deepEqual(got, [[0, 1000, "k0"], [0, 1033, "d0"], [1, 1000, ""]]);
});

test("to leave the loop is to unsubscribe", async () => {
  const { transport, track, subscription } = await subscribed();
  transport.group("00020000");
  for await (const group of track) {
    group.close();
    break;
  }
  assert.equal((await subscription.reader.read()).done, true);
});

test("a slow page loses the oldest groups", async () => {
  const { transport, track } = await subscribed();
  for (let sequence = 0; sequence < 20; sequence++) transport.group("000200" + sequence.toString(16).padStart(2, "0"));
  while (track.dropped < 12) await new Promise((done) => { setImmediate(done); });
  const { value } = await track[Symbol.asyncIterator]().next();
  assert.equal(value.sequence, 12);
});

test("the session's end ends its tracks", async () => {
  const { transport, track } = await subscribed();
  transport.end();
  for await (const group of track) assert.fail(`group ${group.sequence}`);
});

test("a track that is not there", async () => {
  const transport = new FakeTransport();
  const subscribing = new Session(transport).subscribe("room", "video");
  (await transport.request()).end();
  await assert.rejects(subscribing, /too early/);
});

test("a frame that claims too much", async () => {
  const { transport, track } = await subscribed();
  transport.group("00020000" + "00bfffffff");
  const { value: group } = await track[Symbol.asyncIterator]().next();
  await assert.rejects(group[Symbol.asyncIterator]().next(), /frame of/);
});

test("announcements", async () => {
  const transport = new FakeTransport();
  const announced = new Session(transport).announced("room");
  const first = announced.next();
  const request = await transport.request();
  assert.equal(request.text, "010604726f6f6d00"); // ANNOUNCE_REQUEST, no hop left out
  request.answer("020701"); // OK
  request.answer("0b0105616c6963650207412c"); // active, two hops
  assert.deepEqual((await first).value, { live: true, name: "alice" });
  request.answer("080005616c69636500");
  assert.deepEqual((await announced.next()).value, { live: false, name: "alice" });
  await announced.return();
  assert.equal((await request.reader.read()).done, true);
});

test("a relay that leaves", async () => {
  const transport = new FakeTransport();
  const session = new Session(transport);
  transport.ask("04"); // a PROBE, which is none of ours
  transport.ask("05131268747470733a2f2f622e6578616d706c652f");
  assert.equal(await session.goingAway, "https://b.example/");
});

test("a relay that asks for announcements gets none, and is not refused", async () => {
  const transport = new FakeTransport();
  new Session(transport);
  const answer = transport.ask("010100");
  const ok = await answer.message();
  assert.ok(ok.varint() > 0);
  assert.equal(ok.varint(), 0);
  ok.end();
  const ended = await Promise.race([answer.more(), new Promise((later) => { setImmediate(later, "open"); })]);
  assert.equal(ended, "open");
});
