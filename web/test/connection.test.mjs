import assert from "node:assert/strict";
import { test } from "node:test";

import { Reader } from "../bytes.js";
import { Connection } from "../qmux/connection.js";
import * as frames from "../qmux/frames.js";
import { STREAM_WINDOW } from "../qmux/streams.js";
import { hex, unhex } from "./hex.mjs";

const THEIRS = {
  idleTimeout: 30000, data: 100, dataBidiLocal: 100, dataBidiRemote: 8, dataUni: 100, streamsBidi: 1, streamsUni: 1,
};

/** The relay's end of a WebSocket. */
class FakeSocket {
  /** What the page sent, a decoded frame each. */
  sent = [];
  closed = false;

  send(bytes) {
    this.sent.push(...frames.decode(bytes));
  }

  close() {
    this.closed = true;
  }

  /** Sends a frame to the page. */
  deliver(frame) {
    this.onmessage({ data: frame.done().buffer });
  }

  /** The frames sent of one type, taken away. */
  take(type) {
    const found = this.sent.filter((f) => f.type === type);
    this.sent = this.sent.filter((f) => f.type !== type);
    return found;
  }
}

async function connected(t) {
  const socket = new FakeSocket();
  const connection = new Connection(socket);
  connection.closed.catch(() => {});
  t.after(() => connection.close());
  assert.equal(socket.take("parameters").length, 1);
  socket.deliver(frames.parameters(THEIRS));
  await connection.ready;
  return { socket, connection };
}

/** Lets everything run that waits for nothing. */
const settle = () => new Promise((done) => { setImmediate(done); });

test("a request and its answer", async (t) => {
  const { socket, connection } = await connected(t);
  const { readable, writable } = await connection.createBidirectionalStream();
  const writer = writable.getWriter();
  await writer.write(unhex("0102"));
  await writer.close();
  assert.deepEqual(socket.take("stream").map((f) => [f.id, hex(f.data), f.fin]), [[0, "0102", false], [0, "", true]]);
  socket.deliver(frames.stream(0, 0, unhex("030405"), true));
  const r = new Reader(readable);
  assert.equal(hex(await r.take(3)), "030405");
  assert.equal(await r.more(), false);
});

test("writing waits for the stream's credit", async (t) => {
  const { socket, connection } = await connected(t);
  const writer = (await connection.createBidirectionalStream()).writable.getWriter();
  const written = writer.write(new Uint8Array(10));
  await settle();
  assert.deepEqual(socket.take("stream").map((f) => f.data.length), [8]);
  socket.deliver(frames.maxStreamData(0, 20));
  await written;
  assert.deepEqual(socket.take("stream").map((f) => f.data.length), [2]);
});

test("opening waits for the peer to allow it", async (t) => {
  const { socket, connection } = await connected(t);
  await connection.createUnidirectionalStream();
  let opened = false;
  const second = connection.createUnidirectionalStream().then(() => { opened = true; });
  await settle();
  assert.equal(opened, false);
  socket.deliver(frames.maxStreams(true, 2));
  await second;
});

test("credit comes back with reading, and for what a stopped stream still sends", async (t) => {
  const { socket, connection } = await connected(t);
  const incoming = connection.incomingUnidirectionalStreams.getReader();
  const chunk = new Uint8Array(16000);
  const perStream = Math.floor(STREAM_WINDOW / chunk.length);
  for (let index = 0; index < 10; index++) { // ten windows of a stream are more than the connection's
    const id = index * 4 + 3;
    for (let i = 0; i < perStream / 2; i++) socket.deliver(frames.stream(id, 0, chunk, false));
    await (await incoming.read()).value.cancel();
    for (let i = 0; i < perStream / 2; i++) socket.deliver(frames.stream(id, 0, chunk, false));
  }
  assert.equal(socket.take("stop").length, 10);
  assert.equal(socket.take("broken").length, 0);
  assert.ok(socket.take("max data").length > 0);
  assert.deepEqual(socket.take("max streams").at(-1), { type: "max streams", uni: true, streams: 110 });
});

test("a peer that exceeds what it may", async (t) => {
  const excess = {
    "a stream's window": (socket) => {
      for (let i = 0; i * 16000 <= STREAM_WINDOW; i++) socket.deliver(frames.stream(3, 0, new Uint8Array(16000), false));
    },
    streams: (socket) => socket.deliver(frames.stream(100 * 4 + 3, 0, unhex("00"), false)),
  };
  for (const [name, exceed] of Object.entries(excess)) {
    await t.test(name, async (t) => {
      const { socket, connection } = await connected(t);
      exceed(socket);
      await assert.rejects(connection.closed);
      assert.equal(socket.take("broken")[0].code, 1002);
      assert.equal(socket.closed, true);
    });
  }
});

test("a reset, and a stop", async (t) => {
  const { socket, connection } = await connected(t);
  const { readable, writable } = await connection.createBidirectionalStream();
  socket.deliver(frames.resetStream(0, 0x33, 0));
  await assert.rejects(readable.getReader().read(), /reset by the peer \(51\)/);
  socket.deliver(frames.stopSending(0, 5));
  await assert.rejects(writable.getWriter().write(unhex("00")), /stopped by the peer \(5\)/);
  assert.deepEqual(socket.take("reset"), [{ type: "reset", id: 0, code: 5, size: 0 }]);
});

test("the peer's close ends everything", async (t) => {
  const { socket, connection } = await connected(t);
  const { readable } = await connection.createBidirectionalStream();
  const reading = assert.rejects(readable.getReader().read(), /closed by the peer/);
  socket.deliver(frames.applicationClose(16, "going"));
  assert.deepEqual(await connection.closed, { closeCode: 16, reason: "going" });
  await reading;
  assert.equal((await connection.incomingUnidirectionalStreams.getReader().read()).done, true);
});

test("a WebSocket that breaks", async (t) => {
  const { socket, connection } = await connected(t);
  socket.onclose({ code: 1006 });
  await assert.rejects(connection.closed, /1006/);
});

test("a ping is answered", async (t) => {
  const { socket } = await connected(t);
  socket.deliver(frames.ping(3));
  assert.deepEqual(socket.take("pong"), [{ type: "pong", sequence: 3 }]);
});

test("silence ends it", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval", "Date"] });
  const { socket, connection } = await connected(t);
  t.mock.timers.tick(11_000);
  assert.equal(socket.take("ping").length, 1);
  t.mock.timers.tick(20_000);
  await assert.rejects(connection.closed, /silent/);
});
