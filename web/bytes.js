// The primitives of moq-lite and qmux: QUIC varints, strings, and messages with
// their length in front.

/** The longest message taken, in bytes. */
const MAX_MESSAGE = 64 << 10;

/** Appends primitives to a list of bytes. Methods return the writer. */
export class Writer {
  /** @type {number[]} */
  #bytes = [];

  /** @param {number} n 0 to 255 */
  u8(n) {
    this.#bytes.push(n);
    return this;
  }

  /** @param {number | bigint} n 0 to 2^62-1; as a number at most 2^53-1 */
  varint(n) {
    const [size, mark] = n < 64 ? [1, 0] : n < 16384 ? [2, 1] : n < 2 ** 30 ? [4, 2] : [8, 3];
    const view = new DataView(new ArrayBuffer(8));
    view.setBigUint64(0, BigInt(n));
    view.setUint8(8 - size, view.getUint8(8 - size) | (mark << 6));
    return this.append(new Uint8Array(view.buffer, 8 - size));
  }

  /** @param {Iterable<number>} bytes as they are, without a length */
  append(bytes) {
    for (const b of bytes) this.#bytes.push(b);
    return this;
  }

  /** @param {Uint8Array} bytes with their length */
  bytes(bytes) {
    return this.varint(bytes.length).append(bytes);
  }

  /** @param {string} s */
  string(s) {
    return this.bytes(new TextEncoder().encode(s));
  }

  /** Puts a length in front of what fill appends.
   * @param {(w: Writer) => void} fill */
  message(fill) {
    const body = new Writer();
    fill(body);
    return this.bytes(body.done());
  }

  done() {
    return new Uint8Array(this.#bytes);
  }
}

/** Reads primitives from bytes that are all there. Throws where they end too early. */
export class Cursor {
  #bytes;
  #at = 0;

  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.#bytes = bytes;
  }

  /** How many bytes are left. */
  get left() {
    return this.#bytes.length - this.#at;
  }

  /** @param {number} n of bytes, which alias what is read */
  take(n) {
    if (n > this.left) throw new Error("message is too short");
    this.#at += n;
    return this.#bytes.subarray(this.#at - n, this.#at);
  }

  u8() {
    return this.take(1)[0];
  }

  /** A varint of any size. */
  bigint() {
    const first = this.u8();
    let n = BigInt(first & 0x3f);
    for (const b of this.take((1 << (first >> 6)) - 1)) n = (n << 8n) | BigInt(b);
    return n;
  }

  /** A varint; above 2^53 it is rounded. */
  varint() {
    return Number(this.bigint());
  }

  bytes() {
    return this.take(this.varint());
  }

  string() {
    return new TextDecoder("utf-8", { fatal: true }).decode(this.bytes());
  }

  /** Checks that all was read. */
  end() {
    if (this.left > 0) throw new Error(`message has ${this.left} bytes too many`);
  }
}

/** Reads primitives from a stream as they come. */
export class Reader {
  #reader;
  #chunks = /** @type {Uint8Array[]} */ ([]);
  #size = 0; // bytes in chunks

  /** @param {ReadableStream<Uint8Array>} stream */
  constructor(stream) {
    this.#reader = stream.getReader();
  }

  /** Waits for n bytes. false: the stream ended before. */
  async #fill(n) {
    while (this.#size < n) {
      const { value, done } = await this.#reader.read();
      if (done) return false;
      this.#chunks.push(value);
      this.#size += value.length;
    }
    return true;
  }

  /** Whether another byte comes before the end. */
  more() {
    return this.#fill(1);
  }

  /** @param {number} n of bytes */
  async take(n) {
    if (!(await this.#fill(n))) throw new Error("stream ended too early");
    const out = new Uint8Array(n);
    for (let at = 0; at < n; ) {
      const piece = this.#chunks[0].subarray(0, n - at);
      out.set(piece, at);
      at += piece.length;
      if (piece.length === this.#chunks[0].length) this.#chunks.shift();
      else this.#chunks[0] = this.#chunks[0].subarray(piece.length);
    }
    this.#size -= n;
    return out;
  }

  /** A varint; above 2^53 it is rounded. */
  async varint() {
    const first = await this.take(1);
    const rest = await this.take((1 << (first[0] >> 6)) - 1);
    return new Cursor(new Uint8Array([...first, ...rest])).varint();
  }

  /** A signed number: zigzag. */
  async signed() {
    const n = await this.varint();
    return n % 2 === 0 ? n / 2 : -(n + 1) / 2;
  }

  /** A message, whole. */
  async message() {
    const size = await this.varint();
    if (size > MAX_MESSAGE) throw new Error(`message of ${size} bytes`);
    return new Cursor(await this.take(size));
  }

  /** Takes no more. */
  cancel() {
    this.#reader.cancel().catch(() => {});
  }
}
