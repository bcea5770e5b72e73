// A small moq-lite-05 client for browsers, over WebTransport. No dependencies.
//
//   const session = await connect("https://relay.example/room", { hashes: [hex] });
//   for await (const { name, live } of session.announced("")) …
//   const track = await session.subscribe("cam", "video", { maxAge: 1000 });
//   for await (const group of track) for await (const frame of group) …

const VERSION = "moq-lite-05";

// Stream types (moq-lite, section 4).
const ANNOUNCE = 1, SUBSCRIBE = 2, TRACK = 6; // bidirectional
const GROUP = 0, SETUP = 1; // unidirectional
const ROLE = 3, SUBSCRIBER = 2; // SETUP parameter: we only read

/** The largest frame taken, in bytes: as large as relays pass on. */
const MAX_FRAME = 32 << 20;

/** Appends QUIC varints, strings and messages to a list of bytes. */
export class Writer {
  /** @type {number[]} */
  bytes = [];

  /** @param {number} n a whole number of 0 to 2^53-1 */
  varint(n) {
    const [size, mark] = n < 64 ? [1, 0] : n < 16384 ? [2, 1] : n < 2 ** 30 ? [4, 2] : [8, 3];
    const at = this.bytes.length;
    for (let i = size - 1, v = n; i >= 0; i--, v = Math.floor(v / 256)) this.bytes[at + i] = v % 256;
    this.bytes[at] |= mark << 6;
    return this;
  }

  /** @param {string} s */
  string(s) {
    const utf8 = new TextEncoder().encode(s);
    this.varint(utf8.length);
    this.bytes.push(...utf8);
    return this;
  }

  /** Puts a length in front of what fill appends.
   * @param {(w: Writer) => void} fill */
  message(fill) {
    const body = new Writer();
    fill(body);
    this.varint(body.bytes.length);
    this.bytes.push(...body.bytes);
    return this;
  }

  done() {
    return new Uint8Array(this.bytes);
  }
}

/** Reads varints, strings and bytes from a stream as they come. */
export class Reader {
  #reader;
  #have = new Uint8Array(0);

  /** @param {ReadableStream<Uint8Array>} stream */
  constructor(stream) {
    this.#reader = stream.getReader();
  }

  /** Waits for n bytes. false: the stream ended before the first of them. */
  async #fill(n) {
    while (this.#have.length < n) {
      const { value, done } = await this.#reader.read();
      if (done) {
        if (this.#have.length === 0) return false;
        throw new Error("stream ended too early");
      }
      const joined = new Uint8Array(this.#have.length + value.length);
      joined.set(this.#have);
      joined.set(value, this.#have.length);
      this.#have = joined;
    }
    return true;
  }

  /** Whether another byte comes before the end. */
  async more() {
    return this.#fill(1);
  }

  /** @param {number} n */
  async take(n) {
    if (n > 0 && !(await this.#fill(n))) throw new Error("stream ended too early");
    const out = this.#have.slice(0, n);
    this.#have = this.#have.subarray(n);
    return out;
  }

  async varint() {
    const [first] = await this.take(1);
    let n = first & 0x3f;
    for (const b of await this.take((1 << (first >> 6)) - 1)) n = n * 256 + b;
    return n;
  }

  async string() {
    return new TextDecoder().decode(await this.take(await this.varint()));
  }

  /** A signed number: zigzag. */
  async signed() {
    const n = await this.varint();
    return n % 2 === 0 ? n / 2 : -(n + 1) / 2;
  }

  /** @param {unknown} [reason] */
  cancel(reason) {
    this.#reader.cancel(reason).catch(() => {});
  }
}

/** One frame. @typedef {{ timestamp: number, payload: Uint8Array }} Frame */

/** A run of frames: read it with `for await`. */
export class Group {
  /** @param {Reader} reader @param {number} sequence */
  constructor(reader, sequence) {
    this.reader = reader;
    this.sequence = sequence;
  }

  /** @returns {AsyncGenerator<Frame>} */
  async *[Symbol.asyncIterator]() {
    let timestamp = 0;
    try {
      while (await this.reader.more()) {
        timestamp += await this.reader.signed();
        const size = await this.reader.varint();
        if (size > MAX_FRAME) throw new Error(`frame of ${size} bytes`);
        yield { timestamp, payload: await this.reader.take(size) };
      }
    } finally {
      this.reader.cancel();
    }
  }
}

/** How many groups wait for a slow page before the oldest is let go. */
const MAX_WAITING = 8;

/** A subscription: read its groups with `for await`. */
export class Track {
  /** Groups let go because the page did not take them in time. */
  dropped = 0;
  #waiting = /** @type {Group[]} */ ([]);
  #wake = () => {};
  #over = false;

  /** @param {() => void} stop @param {number} timescale units of timestamps per second */
  constructor(stop, timescale) {
    this.close = stop;
    this.timescale = timescale;
  }

  /** @param {Group} group */
  push(group) {
    this.#waiting.push(group);
    if (this.#waiting.length > MAX_WAITING) {
      this.#waiting.shift()?.reader.cancel();
      this.dropped++;
    }
    this.#wake();
  }

  end() {
    this.#over = true;
    this.#wake();
  }

  /** @returns {AsyncGenerator<Group>} */
  async *[Symbol.asyncIterator]() {
    try {
      for (;;) {
        const group = this.#waiting.shift();
        if (group) yield group;
        else if (this.#over) return;
        else await new Promise((resolve) => (this.#wake = () => resolve(undefined)));
      }
    } finally {
      this.close();
    }
  }
}

/** A session with a relay. */
export class Session {
  #tracks = new Map();
  #next = 0;

  /** @param {WebTransport} transport */
  constructor(transport) {
    this.transport = transport;
    /** Settles when the session ends, with its code and reason. */
    this.closed = transport.closed;
    this.#accept();
  }

  close() {
    this.transport.close({ closeCode: 0, reason: "" });
  }

  /** Says who we are. */
  async setup() {
    const stream = await this.transport.createUnidirectionalStream();
    const w = new Writer().varint(SETUP).message((m) => m.varint(1).varint(ROLE).varint(1).varint(SUBSCRIBER));
    const writer = stream.getWriter();
    await writer.write(w.done());
    await writer.close();
  }

  /** @param {Writer} request */
  async #ask(request) {
    const stream = await this.transport.createBidirectionalStream();
    const writer = stream.writable.getWriter();
    await writer.write(request.done());
    return { reader: new Reader(stream.readable), writer };
  }

  /** Takes the relay's streams: groups, and its SETUP. */
  async #accept() {
    const streams = this.transport.incomingUnidirectionalStreams.getReader();
    try {
      for (;;) {
        const { value, done } = await streams.read();
        if (done) break;
        this.#take(value).catch(() => {});
      }
    } catch {
      // The session is over: closed says why.
    }
    for (const track of this.#tracks.values()) track.end();
  }

  /** @param {ReadableStream<Uint8Array>} stream */
  async #take(stream) {
    const reader = new Reader(stream);
    if ((await reader.varint()) !== GROUP) return reader.cancel();
    await reader.varint(); // length
    const track = this.#tracks.get(await reader.varint());
    const group = new Group(reader, await reader.varint());
    if (track) track.push(group);
    else reader.cancel();
  }

  /** Follows what is announced below prefix.
   * @param {string} prefix
   * @returns {AsyncGenerator<{ name: string, live: boolean }>} */
  async *announced(prefix) {
    const { reader, writer } = await this.#ask(
      new Writer().varint(ANNOUNCE).message((m) => m.string(prefix).varint(0)),
    );
    try {
      await reader.take(await reader.varint()); // ANNOUNCE_OK
      while (await reader.more()) {
        await reader.varint(); // length
        const [status] = await reader.take(1);
        const name = await reader.string();
        for (let hops = await reader.varint(); hops > 0; hops--) await reader.varint();
        yield { name, live: status !== 0 };
      }
    } finally {
      writer.abort().catch(() => {});
      reader.cancel();
    }
  }

  /** Subscribes to a track from its newest group on.
   * @param {string} broadcast @param {string} name
   * @param {{ maxAge?: number, priority?: number }} [options] maxAge in ms: how stale a group may be */
  async subscribe(broadcast, name, { maxAge = 1000, priority = 128 } = {}) {
    const info = await this.#ask(new Writer().varint(TRACK).message((m) => m.string(broadcast).string(name)));
    await info.reader.varint(); // length
    await info.reader.take(2); // priority, ordered
    await info.reader.varint(); // the publisher's max age
    const timescale = await info.reader.varint();
    info.writer.close().catch(() => {});

    const id = this.#next++;
    const request = new Writer().varint(SUBSCRIBE).message((m) => {
      m.varint(id).string(broadcast).string(name);
      m.bytes.push(priority, 0);
      m.varint(maxAge).varint(0).varint(0);
    });
    const { reader, writer } = await this.#ask(request);
    const track = new Track(() => {
      this.#tracks.delete(id);
      writer.close().catch(() => {});
      reader.cancel();
    }, timescale);
    this.#tracks.set(id, track);
    this.#follow(reader, track);
    return track;
  }

  /** Reads a subscription's answers until the relay ends it. */
  async #follow(reader, track) {
    try {
      while (await reader.more()) {
        await reader.varint(); // START, END or DROP
        await reader.take(await reader.varint());
      }
    } catch {
      // Reset: the track is gone.
    }
    track.end();
  }
}

/** Opens a session.
 * @param {string} url of the relay, https
 * @param {{ hashes?: string[] }} [options] hashes: SHA-256 of the certificates to trust, in hex;
 *   empty trusts the browser's authorities */
export async function connect(url, { hashes = [] } = {}) {
  if (typeof WebTransport === "undefined") throw new Error("this browser has no WebTransport");
  const transport = new WebTransport(url, {
    protocols: [VERSION],
    serverCertificateHashes: hashes.map((hex) => ({ algorithm: "sha-256", value: fromHex(hex) })),
  });
  transport.closed.catch(() => {});
  await transport.ready;
  const session = new Session(transport);
  await session.setup();
  return session;
}

function fromHex(hex) {
  return new Uint8Array(hex.match(/../g)?.map((pair) => parseInt(pair, 16)) ?? []);
}
