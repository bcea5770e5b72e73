// A small moq-lite-05 client for browsers, over WebTransport or a WebSocket. No
// dependencies.
//
//   const session = await connect("https://relay.example/room", { webSocket: "wss://relay.example/room" });
//   for await (const { name, live } of session.announced("")) …
//   const track = await session.subscribe("cam", "video", { maxAge: 1000 });
//   for await (const group of track) for await (const frame of group) …

import { Reader, Writer } from "./bytes.js";
import { Connection, dial } from "./qmux/connection.js";

const VERSION = "moq-lite-05";

// Stream types (moq-lite, section 4).
const ANNOUNCE = 1, SUBSCRIBE = 2, GOAWAY = 5, TRACK = 6; // bidirectional
const GROUP = 0, SETUP = 1; // unidirectional

// SETUP's parameters (section 5), and the role of one who only reads.
const ROLE = 3, HOP = 5, SUBSCRIBER = 2;

/** The largest frame taken, in bytes: as large as relays pass on. */
const MAX_FRAME = 32 << 20;

/** How many groups wait for a slow page before the oldest is let go. */
const MAX_WAITING = 8;

/** How long a transport may take to connect, in milliseconds. */
const PATIENCE = 10_000;

/** One frame; its timestamp is in units of the track's timescale.
 * @typedef {{ timestamp: number, payload: Uint8Array }} Frame */

/** A run of frames: read it once with `for await`, which throws where the relay gave it up. */
export class Group {
  #reader;

  /** @param {Reader} reader @param {number} sequence */
  constructor(reader, sequence) {
    this.#reader = reader;
    this.sequence = sequence;
  }

  /** @returns {AsyncGenerator<Frame>} */
  async *[Symbol.asyncIterator]() {
    let timestamp = 0;
    try {
      while (await this.#reader.more()) {
        timestamp += await this.#reader.signed();
        const size = await this.#reader.varint();
        if (size > MAX_FRAME) throw new Error(`frame of ${size} bytes`);
        yield { timestamp, payload: await this.#reader.take(size) };
      }
    } finally {
      this.close();
    }
  }

  /** Takes no more of it. */
  close() {
    this.#reader.cancel();
  }
}

/** A subscription: read its groups, in the order in which they come, with `for await`.
 * To leave the loop is to unsubscribe. */
export class Track {
  /** Groups let go because the page did not take them in time. */
  dropped = 0;
  #waiting = /** @type {Group[]} */ ([]);
  #wake = () => {};
  #over = false;
  #stop;

  /** @param {number} timescale @param {() => void} stop unsubscribes */
  constructor(timescale, stop) {
    /** Units of timestamps in a second. */
    this.timescale = timescale;
    this.#stop = stop;
  }

  /** Unsubscribes. */
  close() {
    this.end();
    for (const group of this.#waiting.splice(0)) group.close();
    this.#stop();
  }

  /** For the session: a group has come. @param {Group} group */
  push(group) {
    if (this.#over) return group.close();
    this.#waiting.push(group);
    if (this.#waiting.length > MAX_WAITING) {
      this.#waiting.shift()?.close();
      this.dropped++;
    }
    this.#wake();
  }

  /** For the session: no other will come. */
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
        else await new Promise((wake) => { this.#wake = () => wake(null); });
      }
    } finally {
      this.close();
    }
  }
}

/** A session with a relay, made by connect. */
export class Session {
  #transport;
  #tracks = /** @type {Map<number, Track>} */ (new Map());
  #next = 0; // subscribe id
  #hop = 1 + Math.floor(Math.random() * (Number.MAX_SAFE_INTEGER - 1)); // our identity

  /** @param {WebTransport | Connection} transport */
  constructor(transport) {
    this.#transport = transport;
    /** "WebTransport" or "WebSocket". */
    this.kind = transport instanceof Connection ? "WebSocket" : "WebTransport";
    /** Resolves with { closeCode, reason } when a side ended the session, rejects when it broke. */
    this.closed = transport.closed;
    this.closed.catch(() => {});
    /** Resolves when the relay is about to leave: with the URL to go to, "" for the same.
     * @type {Promise<string>} */
    this.goingAway = new Promise((leave) => { this.#acceptRequests(leave); });
    this.#acceptGroups();
  }

  /** Ends the session. */
  close() {
    this.#transport.close({ closeCode: 0, reason: "" });
  }

  /** For connect: says who we are. */
  async setup() {
    const writer = (await this.#transport.createUnidirectionalStream()).getWriter();
    await writer.write(new Writer().varint(SETUP).message((m) => {
      m.varint(2);
      m.varint(ROLE).message((v) => v.varint(SUBSCRIBER));
      m.varint(HOP).message((v) => v.varint(this.#hop));
    }).done());
    await writer.close();
  }

  /** Follows what is announced below prefix: each name, without the prefix, with whether it
   * is there. One that comes again while it is there has another way or publisher. To leave the
   * loop is to follow no longer.
   * @param {string} prefix
   * @returns {AsyncGenerator<{ name: string, live: boolean }>} */
  async *announced(prefix) {
    const { reader, finish } = await this.#ask(new Writer().varint(ANNOUNCE).message((m) => m.string(prefix).varint(0)));
    try {
      await reader.message(); // ANNOUNCE_OK
      while (await reader.more()) {
        const m = await reader.message();
        yield { live: m.u8() !== 0, name: m.string() }; // the hops are the relays' business
      }
    } finally {
      finish();
      reader.cancel();
    }
  }

  /** Subscribes to a track from its newest group on. Throws where it is not there.
   * @param {string} broadcast @param {string} name
   * @param {{ maxAge?: number, priority?: number }} [options] maxAge: how far behind the newest a
   *   group may be, in milliseconds; priority: 0 to 255, higher is more urgent */
  async subscribe(broadcast, name, { maxAge = 1000, priority = 128 } = {}) {
    const timescale = await this.#timescale(broadcast, name);
    const id = this.#next++;
    let unsubscribe = () => {};
    const track = new Track(timescale, () => {
      this.#tracks.delete(id);
      unsubscribe();
    });
    this.#tracks.set(id, track); // before a group can come
    const { reader, finish } = await this.#ask(new Writer().varint(SUBSCRIBE).message((m) => {
      m.varint(id).string(broadcast).string(name).u8(priority).u8(0).varint(maxAge).varint(0).varint(0);
    }));
    unsubscribe = finish;
    this.#follow(reader, track);
    return track;
  }

  /** Asks what a track is, for the one thing that its frames cannot be read without. */
  async #timescale(broadcast, name) {
    const { reader, finish } = await this.#ask(new Writer().varint(TRACK).message((m) => m.string(broadcast).string(name)));
    try {
      const info = await reader.message();
      info.take(2); // priority, ordered
      info.varint(); // the publisher's max age
      return info.varint();
    } finally {
      finish();
      reader.cancel();
    }
  }

  /** Opens a request. finish ends our side of it, which before the answer is complete
   * withdraws it. @param {Writer} request */
  async #ask(request) {
    const stream = await this.#transport.createBidirectionalStream();
    const writer = stream.writable.getWriter();
    await writer.write(request.done());
    return { reader: new Reader(stream.readable), finish: () => { writer.close().catch(() => {}); } };
  }

  /** Reads a subscription's answers until the relay or we end it. */
  async #follow(reader, track) {
    try {
      while (await reader.more()) {
        await reader.varint(); // START, END or DROP: the groups themselves tell
        await reader.message();
      }
    } catch {
      // Reset: the track is gone.
    }
    track.end();
  }

  /** Takes the relay's groups, and its SETUP. */
  async #acceptGroups() {
    await each(this.#transport.incomingUnidirectionalStreams, (stream) => this.#acceptGroup(new Reader(stream)));
    for (const track of this.#tracks.values()) track.end();
  }

  /** @param {Reader} reader */
  async #acceptGroup(reader) {
    if ((await reader.varint()) !== GROUP) return reader.cancel();
    const header = await reader.message();
    const track = this.#tracks.get(header.varint());
    const group = new Group(reader, header.varint());
    if (track) track.push(group);
    else group.close();
  }

  /** Takes what the relay asks. @param {(url: string) => void} leave */
  async #acceptRequests(leave) {
    await each(this.#transport.incomingBidirectionalStreams, async ({ readable, writable }) => {
      const reader = new Reader(readable);
      switch (await reader.varint()) {
        case ANNOUNCE:
          return this.#announceNothing(reader, writable.getWriter());
        case GOAWAY:
          leave((await reader.message()).string());
          return writable.close();
      }
      reader.cancel();
      return writable.abort();
    });
  }

  /** Answers a relay that asks before it knows our role: to refuse would end the session. */
  async #announceNothing(reader, writer) {
    await reader.message();
    await writer.write(new Writer().message((m) => m.varint(this.#hop).varint(0)).done());
    await reader.more(); // until it asks no more
    await writer.close();
  }
}

/** Hands each value of a stream on, until the stream ends. What one of them throws is its own affair. */
async function each(stream, take) {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      take(value).catch(() => {});
    }
  } catch {
    // The session is over: closed says why.
  }
}

/** Opens a session.
 * @param {string} url of the relay: https for WebTransport, ws or wss for a WebSocket
 * @param {{ hashes?: string[], webSocket?: string, delay?: number }} [options] hashes: SHA-256 of the
 *   certificates to trust with WebTransport, in hex; none leaves it to the browser. webSocket: URL
 *   to try, too, once WebTransport has failed or delay milliseconds have passed; the first wins
 * @returns {Promise<Session>} */
export async function connect(url, { hashes = [], webSocket = "", delay = 500 } = {}) {
  const session = new Session(await (url.startsWith("ws") ? dial(url, VERSION) : race(url, hashes, webSocket, delay)));
  await session.setup();
  return session;
}

/** Connects over WebTransport, or over a WebSocket where that is sooner. */
async function race(url, hashes, webSocket, delay) {
  const first = withPatience(overWebTransport(url, hashes));
  if (webSocket === "") return first;
  let won = false;
  const second = Promise.race([first, sleep(delay)]).catch(() => {}).then(() => {
    if (won) throw new Error("not needed");
    return withPatience(dial(webSocket, VERSION));
  });
  first.then(() => { won = true; }, () => {});
  const both = [first, second];
  const winner = await Promise.any(both).catch((all) => {
    throw new Error(all.errors.map((err) => err.message).join("; "));
  });
  for (const p of both) p.then((transport) => { if (transport !== winner) transport.close(); }, () => {});
  return winner;
}

async function overWebTransport(url, hashes) {
  if (typeof WebTransport === "undefined") throw new Error("this browser has no WebTransport");
  const transport = new WebTransport(url, {
    protocols: [VERSION],
    serverCertificateHashes: hashes.map((hex) => ({ algorithm: "sha-256", value: fromHex(hex) })),
  });
  transport.closed.catch(() => {});
  await transport.ready;
  if (transport.protocol === VERSION) return transport;
  transport.close();
  throw new Error(`no ${VERSION} over WebTransport`);
}

function sleep(milliseconds) {
  return new Promise((wake) => { setTimeout(wake, milliseconds); });
}

/** Gives up waiting for a transport after a while; one that comes later is closed. */
function withPatience(transport) {
  let late = false;
  transport.then((t) => { if (late) t.close(); }, () => {});
  return Promise.race([transport, sleep(PATIENCE).then(() => {
    late = true;
    throw new Error("timed out");
  })]);
}

function fromHex(hex) {
  return new Uint8Array(hex.match(/../g)?.map((pair) => parseInt(pair, 16)) ?? []);
}
