// What a page shows of the frames that it gets.

/** How long a frame counts for the bitrate, in milliseconds. */
const WINDOW = 1000;

/** How much one frame moves the latency shown. */
const WEIGHT = 0.1;

/** Counts frames; times are in milliseconds. */
export class Meter {
  frames = 0;
  /** Groups that were never shown, or not to their end. */
  skipped = 0;
  #recent = /** @type {{ at: number, size: number }[]} */ ([]);
  #latency = /** @type {number | null} */ (null);

  /** @param {number} at when it came, by a clock that only goes forward
   * @param {number} size in bytes @param {number} latency since it was sent */
  frame(at, size, latency) {
    this.frames++;
    this.#latency = this.#latency === null ? latency : this.#latency + (latency - this.#latency) * WEIGHT;
    this.#recent.push({ at, size });
    this.#forget(at);
  }

  /** Bits a second, of the last second. @param {number} now */
  bitrate(now) {
    this.#forget(now);
    return this.#recent.reduce((sum, { size }) => sum + size * 8, 0) * 1000 / WINDOW;
  }

  /** An average of the last frames; null before the first. Clocks may disagree: it is
   * never below 0. */
  get latency() {
    return this.#latency === null ? null : Math.max(0, this.#latency);
  }

  #forget(now) {
    while (this.#recent.length > 0 && this.#recent[0].at <= now - WINDOW) this.#recent.shift();
  }
}

/** @param {number} bits a second */
export function showBitrate(bits) {
  return bits >= 1e6 ? `${(bits / 1e6).toFixed(2)} Mbit/s` : `${Math.round(bits / 1000)} kbit/s`;
}

/** @param {number | null} milliseconds */
export function showLatency(milliseconds) {
  return milliseconds === null ? "–" : `${milliseconds.toFixed(1)} ms`;
}
