import assert from "node:assert/strict";
import { test } from "node:test";

import { Cursor, Reader, Writer } from "../bytes.js";
import { hex, unhex } from "./hex.mjs";

// RFC 9000 section 16, in the values that moq-lite's vectors use.
const VARINTS = [
  [0, "00"], [63, "3f"], [64, "4040"], [16383, "7fff"], [16384, "80004000"], [2 ** 30 - 1, "bfffffff"],
  [2 ** 30, "c000000040000000"], [Number.MAX_SAFE_INTEGER, "c01fffffffffffff"],
];

/** A stream of chunks, the way a network cuts them. */
function streamOf(...chunks) {
  return new ReadableStream({
    start(controller) {
      for (const c of chunks) controller.enqueue(c);
      controller.close();
    },
  });
}

test("varints, both ways", async () => {
  for (const [n, want] of VARINTS) {
    assert.equal(hex(new Writer().varint(n).done()), want);
    assert.equal(new Cursor(unhex(want)).varint(), n);
    assert.equal(await new Reader(streamOf(unhex(want))).varint(), n);
  }
});

test("a varint beyond a double's precision", () => {
  assert.equal(new Cursor(unhex("ffffffffffffffff")).bigint(), 2n ** 62n - 1n);
  assert.equal(hex(new Writer().varint(2n ** 62n - 1n).done()), "ffffffffffffffff");
});

test("signed numbers", async () => {
  for (const [n, bytes] of [[0, "00"], [-1, "01"], [1, "02"], [-2, "03"], [63, "407e"], [1000, "47d0"], [-16, "1f"], [-3000, "576f"]]) {
    assert.equal(await new Reader(streamOf(unhex(bytes))).signed(), n);
  }
});

test("a cursor reads nothing that is not there", () => {
  const message = new Writer().varint(300).string("röhre").u8(7).done();
  const c = new Cursor(message);
  assert.deepEqual([c.varint(), c.string(), c.u8()], [300, "röhre", 7]);
  c.end();
  for (let n = 0; n < message.length; n++) {
    const short = new Cursor(message.subarray(0, n));
    assert.throws(() => { short.varint(); short.string(); short.u8(); }, /too short/);
  }
  assert.throws(() => new Cursor(unhex("00")).end(), /too many/);
  assert.throws(() => new Cursor(unhex("02fffe")).string()); // no UTF-8
});

test("a reader joins chunks", async () => {
  const r = new Reader(streamOf(unhex("40"), unhex(""), unhex("400102"), unhex("03 0405")));
  assert.equal(await r.varint(), 64);
  assert.equal(hex(await r.take(4)), "01020304");
  assert.equal(await r.more(), true);
  assert.equal(hex(await r.take(1)), "05");
  assert.equal(await r.more(), false);
});

test("a reader tells an early end", async () => {
  await assert.rejects(new Reader(streamOf(unhex("40"))).varint(), /too early/);
  await assert.rejects(new Reader(streamOf(unhex("0301"))).message(), /too early/);
});

test("a message that claims too much is refused before it comes", async () => {
  await assert.rejects(new Reader(streamOf(unhex("bfffffff"))).message(), /message of/);
});
