// The two halves of a qmux stream, as WHATWG streams with QUIC's flow control.

import { MAX_PAYLOAD, maxStreamData, resetStream, stopSending, stream } from "./frames.js";

/** How much a peer may send on one stream before the page reads, in bytes. */
export const STREAM_WINDOW = 1 << 20;

/** What the page reads of a stream. */
export class Incoming {
  #connection;
  #controller = /** @type {ReadableStreamDefaultController} */ (null);
  #queue = /** @type {Uint8Array[]} */ ([]);
  #received = 0; // bytes, of which
  #released = 0; // were read or dropped
  #limit = STREAM_WINDOW; // that received may reach
  #fin = false;
  #over = false; // read to its end, failed or cancelled
  #wake = () => {};

  /** @param {import("./connection.js").Connection} connection @param {number} id */
  constructor(connection, id) {
    this.#connection = connection;
    this.id = id;
    this.readable = new ReadableStream({
      start: (controller) => { this.#controller = controller; },
      pull: () => this.#pull(),
      cancel: () => this.#cancel(),
    }, { highWaterMark: 0 });
  }

  /** Takes what the peer sent. */
  receive(data, fin) {
    this.#received += data.length;
    if (this.#received > this.#limit) throw new Error(`stream ${this.id} exceeds its window`);
    if (data.length > 0) this.#queue.push(data);
    this.#fin ||= fin;
    this.#wake();
  }

  /** Ends it with an error: what was not read is lost. @param {Error} err */
  fail(err) {
    this.#controller.error(err);
    this.#drop();
  }

  async #pull() {
    while (this.#queue.length === 0 && !this.#fin && !this.#over) await new Promise((wake) => { this.#wake = () => wake(null); });
    if (this.#over) return;
    const data = this.#queue.shift();
    if (data) {
      this.#controller.enqueue(data);
      this.#release(data.length);
    } else {
      this.#controller.close();
      this.#drop();
    }
  }

  #cancel() {
    if (!this.#fin) this.#connection.send(stopSending(this.id, 0));
    this.#drop();
  }

  /** Gives back all credit, and the stream. */
  #drop() {
    if (this.#over) return;
    const rest = this.#received - this.#released;
    this.#released = this.#received;
    this.#queue = [];
    this.#over = true;
    this.#wake();
    this.#connection.release(rest);
    this.#connection.read(this.id);
  }

  #release(bytes) {
    this.#released += bytes;
    this.#connection.release(bytes);
    if (this.#fin || this.#limit - this.#released > STREAM_WINDOW / 2) return;
    this.#limit = this.#released + STREAM_WINDOW;
    this.#connection.send(maxStreamData(this.id, this.#limit));
  }
}

/** What the page writes to a stream. */
export class Outgoing {
  #connection;
  #controller = /** @type {WritableStreamDefaultController} */ (null);
  #sent = 0;
  #limit;
  #over = false;

  /** @param {import("./connection.js").Connection} connection @param {number} id
   * @param {number} limit bytes that the peer takes to begin with */
  constructor(connection, id, limit) {
    this.#connection = connection;
    this.id = id;
    this.#limit = limit;
    this.writable = new WritableStream({
      start: (controller) => { this.#controller = controller; },
      write: (data) => this.#write(data),
      close: () => this.#end(stream(this.id, this.#sent, new Uint8Array(0), true)),
      abort: () => this.#end(resetStream(this.id, 0, this.#sent)),
    });
  }

  /** @param {number} limit bytes that the peer takes */
  allow(limit) {
    this.#limit = Math.max(this.#limit, limit);
  }

  /** The peer wants no more. @param {number} code */
  stop(code) {
    this.fail(new Error(`stopped by the peer (${code})`));
    this.#end(resetStream(this.id, code, this.#sent));
  }

  /** @param {Error} err */
  fail(err) {
    this.#controller.error(err);
  }

  async #write(data) {
    while (data.length > 0 && !this.#over) {
      const size = this.#connection.spend(Math.min(data.length, MAX_PAYLOAD, this.#limit - this.#sent));
      if (size > 0) {
        this.#connection.send(stream(this.id, this.#sent, data.subarray(0, size), false));
        this.#sent += size;
        data = data.subarray(size);
      } else {
        await this.#connection.changed();
      }
    }
  }

  #end(frame) {
    if (this.#over) return;
    this.#over = true;
    this.#connection.send(frame);
    this.#connection.written(this.id);
  }
}
