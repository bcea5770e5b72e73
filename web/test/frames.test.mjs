import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import * as frames from "../qmux/frames.js";
import { hex, unhex } from "./hex.mjs";

const vectors = JSON.parse(readFileSync(new URL("../../moq/wire/qmux/testdata/qmux.json", import.meta.url), "utf8"))
  .filter((v) => v.version.startsWith("qmux-01"));

/** How each message of the vectors is written, and what it is read as. */
const KINDS = {
  STREAM: (f) => [frames.stream(f.stream_id, f.offset, unhex(f.data_hex), f.fin),
    { type: "stream", id: f.stream_id, data: unhex(f.data_hex), fin: f.fin }],
  RESET_STREAM: (f) => [frames.resetStream(f.stream_id, f.code, f.final_size),
    { type: "reset", id: f.stream_id, code: f.code, size: f.final_size }],
  STOP_SENDING: (f) => [frames.stopSending(f.stream_id, f.code), { type: "stop", id: f.stream_id, code: f.code }],
  APPLICATION_CLOSE: (f) => [frames.applicationClose(f.code, f.reason), { type: "close", code: f.code, reason: f.reason }],
  CONNECTION_CLOSE: (f) => [null, { type: "broken", code: f.code, frame: 0, reason: f.reason }],
};

test("golden vectors, both ways", () => {
  let seen = 0;
  for (const { message, fields, hex: want } of vectors) {
    if (!KINDS[message]) continue;
    const [written, read] = KINDS[message](fields);
    if (written) assert.equal(hex(written.done()), want);
    assert.deepEqual([...frames.decode(unhex(want))], [read]);
    seen++;
  }
  assert.ok(seen >= 8, `${seen} vectors`);
});

test("the parameters of a peer", () => {
  const all = vectors.filter((v) => v.message === "QX_TRANSPORT_PARAMETERS");
  assert.ok(all.length > 0);
  for (const { hex: bytes } of all) {
    assert.deepEqual([...frames.decode(unhex(bytes))], [{
      type: "parameters", idleTimeout: 30000, data: 1048576,
      dataBidiLocal: 262144, dataBidiRemote: 262144, dataUni: 262144, streamsBidi: 100, streamsUni: 100,
    }]);
  }
});

test("several frames in a record", () => {
  const record = unhex("000000" + "0800010100"); // padding, then a stream without a length
  assert.deepEqual([...frames.decode(record)], [{ type: "stream", id: 0, data: unhex("010100"), fin: false }]);
});

test("pings, which differ in the last bit of 62", () => {
  for (const [write, type] of [[frames.ping, "ping"], [frames.pong, "pong"]]) {
    assert.deepEqual([...frames.decode(write(7).done())], [{ type, sequence: 7 }]);
  }
});

test("malformed records", () => {
  for (const bytes of ["0e00", "0e000003", "2a", "1c43ea", "ff5153300d0a0d0a06" + "040101" + "040101"]) {
    assert.throws(() => [...frames.decode(unhex(bytes))], Error, bytes);
  }
  assert.throws(() => [...frames.decode(new Uint8Array(frames.MAX_RECORD + 1))], /record of/);
});
