import assert from "node:assert/strict";
import { test } from "node:test";

import { Meter, showBitrate, showLatency } from "../meter.js";

test("the bitrate is the last second's", () => {
  const m = new Meter();
  for (let at = 0; at < 2000; at += 100) m.frame(at, 1000, 5);
  assert.equal(m.bitrate(1900), 80_000);
  assert.equal(m.bitrate(2400), 40_000);
  assert.equal(m.bitrate(5000), 0);
  assert.equal(m.frames, 20);
});

test("the latency follows slowly and is never below 0", () => {
  const m = new Meter();
  assert.equal(m.latency, null);
  m.frame(0, 1, 10);
  assert.equal(m.latency, 10);
  m.frame(1, 1, 20);
  assert.equal(m.latency, 11);
  m.frame(2, 1, -1000);
  assert.equal(m.latency, 0);
});

test("figures as they are shown", () => {
  assert.equal(showBitrate(999_499), "999 kbit/s");
  assert.equal(showBitrate(1_500_000), "1.50 Mbit/s");
  assert.equal(showLatency(null), "–");
  assert.equal(showLatency(3.44), "3.4 ms");
});
