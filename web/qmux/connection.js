// A qmux-01 connection over a WebSocket, with the interface of WebTransport as far as
// the client needs it.

import {
  applicationClose, connectionClose, decode, maxData, maxStreams, parameters, ping, pong,
} from "./frames.js";
import { Incoming, Outgoing, STREAM_WINDOW } from "./streams.js";

const WINDOW = 4 << 20; // bytes the peer may send before they are read
const STREAMS = 100; // that the peer may have open, of each kind
const IDLE = 30_000; // milliseconds without a byte after which the peer is taken for gone

const OURS = {
  idleTimeout: IDLE,
  data: WINDOW,
  dataBidiLocal: STREAM_WINDOW,
  dataBidiRemote: STREAM_WINDOW,
  dataUni: STREAM_WINDOW,
  streamsBidi: STREAMS,
  streamsUni: STREAMS,
};

/** Who opened a stream, and whether it has one direction, is in the lowest bits of its id. */
const fromServer = (id) => id % 2 === 1;
const isUni = (id) => id % 4 >= 2;
const kindOf = (id) => (isUni(id) ? "uni" : "bidi");

/** Opens a connection that speaks protocol inside.
 * @param {string} url ws or wss @param {string} protocol such as moq-lite-05 */
export async function dial(url, protocol) {
  const socket = new WebSocket(url, [`qmux-01.${protocol}`]);
  socket.binaryType = "arraybuffer";
  await new Promise((open, refused) => {
    socket.onopen = open;
    socket.onclose = () => refused(new Error("the WebSocket was refused"));
  });
  const connection = new Connection(socket);
  await connection.ready;
  return connection;
}

export class Connection {
  #socket;
  #peer = /** @type {import("./frames.js").Parameters | null} */ (null);
  #reading = /** @type {Map<number, Incoming>} */ (new Map());
  #writing = /** @type {Map<number, Outgoing>} */ (new Map());
  #opened = { bidi: 0, uni: 0 }; // by us, of
  #allowed = { bidi: 0, uni: 0 };
  #accepted = { bidi: 0, uni: 0 }; // opened by the peer, of
  #granted = { bidi: STREAMS, uni: STREAMS };
  #sent = 0; // bytes on all streams, of
  #credit = 0;
  #received = 0; // likewise, of which
  #released = 0; // were read or dropped
  #limit = WINDOW; // that received may reach
  #changed = deferred(); // credit, streams or the end
  #ready = deferred();
  #closed = deferred();
  #over = /** @type {Error | null} */ (null);
  #incoming = { bidi: queue(), uni: queue() };
  #timer;
  #heard = Date.now();
  #spoke = Date.now();
  #pings = 0;

  /** @param {WebSocket} socket that is open */
  constructor(socket) {
    this.#socket = socket;
    this.ready = this.#ready.promise;
    /** Resolves with code and reason when a side closed it, rejects when it broke. */
    this.closed = this.#closed.promise;
    this.incomingBidirectionalStreams = this.#incoming.bidi.stream;
    this.incomingUnidirectionalStreams = this.#incoming.uni.stream;
    socket.onmessage = ({ data }) => this.#receive(data);
    socket.onclose = ({ code }) => this.#end(new Error(`the WebSocket closed (${code})`));
    this.#timer = setInterval(() => this.#tick(), 1000);
    this.send(parameters(OURS));
  }

  /** Opens a stream once the peer allows one more. */
  async createBidirectionalStream() {
    const id = await this.#open("bidi");
    const incoming = new Incoming(this, id);
    const outgoing = new Outgoing(this, id, this.#peer.dataBidiRemote);
    this.#reading.set(id, incoming);
    this.#writing.set(id, outgoing);
    return { readable: incoming.readable, writable: outgoing.writable };
  }

  /** Likewise. */
  async createUnidirectionalStream() {
    const id = await this.#open("uni");
    const outgoing = new Outgoing(this, id, this.#peer.dataUni);
    this.#writing.set(id, outgoing);
    return outgoing.writable;
  }

  /** @param {{ closeCode?: number, reason?: string }} [info] */
  close({ closeCode = 0, reason = "" } = {}) {
    this.send(applicationClose(closeCode, reason));
    this.#end(new Error("closed"), { closeCode, reason });
  }

  // What the streams use.

  /** @param {import("../bytes.js").Writer} frame */
  send(frame) {
    if (this.#over) return;
    this.#socket.send(frame.done());
    this.#spoke = Date.now();
  }

  /** Takes send credit: how much of want may go. @param {number} want */
  spend(want) {
    const size = Math.max(0, Math.min(want, this.#credit - this.#sent));
    this.#sent += size;
    return size;
  }

  /** Waits for credit or a stream. Throws when the connection is over. */
  async changed() {
    await this.#changed.promise;
    if (this.#over) throw this.#over;
  }

  /** Lets the peer send as much again. @param {number} bytes read or dropped */
  release(bytes) {
    this.#released += bytes;
    if (this.#limit - this.#released > WINDOW / 2) return;
    this.#limit = this.#released + WINDOW;
    this.send(maxData(this.#limit));
  }

  /** A stream was read to its end: the peer may open another. */
  read(id) {
    if (!this.#reading.delete(id) || !fromServer(id)) return;
    this.#granted[kindOf(id)]++;
    this.send(maxStreams(isUni(id), this.#granted[kindOf(id)]));
  }

  /** A stream was written to its end. */
  written(id) {
    this.#writing.delete(id);
  }

  async #open(kind) {
    while (this.#opened[kind] >= this.#allowed[kind]) await this.changed();
    if (this.#over) throw this.#over;
    return this.#opened[kind]++ * 4 + (kind === "uni" ? 2 : 0);
  }

  #receive(data) {
    if (this.#over || !(data instanceof ArrayBuffer)) return;
    this.#heard = Date.now();
    try {
      for (const frame of decode(new Uint8Array(data))) this.#take(frame);
    } catch (err) {
      this.send(connectionClose(err.message));
      this.#end(err);
    }
  }

  #take(frame) {
    switch (frame.type) {
      case "parameters": return this.#begin(frame);
      case "stream": return this.#data(frame);
      case "reset": return this.#incomingOf(frame.id)?.fail(new Error(`reset by the peer (${frame.code})`));
      case "stop": return this.#writing.get(frame.id)?.stop(frame.code);
      case "max data": return this.#raise(() => { this.#credit = Math.max(this.#credit, frame.bytes); });
      case "max stream data": return this.#raise(() => this.#writing.get(frame.id)?.allow(frame.bytes));
      case "max streams": return this.#allow(frame.uni ? "uni" : "bidi", frame.streams);
      case "ping": return this.send(pong(frame.sequence));
      case "close": return this.#end(new Error(`closed by the peer (${frame.code})`), { closeCode: frame.code, reason: frame.reason });
      case "broken": return this.#end(new Error(`the peer gave up (${frame.code}): ${frame.reason}`));
    }
  }

  #begin(peer) {
    this.#peer ??= peer;
    this.#raise(() => { this.#credit = Math.max(this.#credit, peer.data); });
    this.#allow("bidi", peer.streamsBidi);
    this.#allow("uni", peer.streamsUni);
    this.#ready.resolve();
  }

  #raise(change) {
    change();
    this.#changed.resolve();
    this.#changed = deferred();
  }

  #allow(kind, streams) {
    this.#raise(() => { this.#allowed[kind] = Math.max(this.#allowed[kind], streams); });
  }

  #data({ id, data, fin }) {
    this.#received += data.length;
    if (this.#received > this.#limit) throw new Error("the peer exceeds its window");
    const stream = this.#incomingOf(id);
    if (stream) stream.receive(data, fin);
    else this.release(data.length); // one that we stopped
  }

  /** The stream that the peer sends on; it may be new. */
  #incomingOf(id) {
    const kind = kindOf(id), index = Math.floor(id / 4);
    if (fromServer(id) && index >= this.#granted[kind]) throw new Error("the peer opens too many streams");
    while (fromServer(id) && this.#accepted[kind] <= index) this.#accept(kind);
    return this.#reading.get(id);
  }

  #accept(kind) {
    const id = this.#accepted[kind]++ * 4 + (kind === "uni" ? 3 : 1);
    const incoming = new Incoming(this, id);
    this.#reading.set(id, incoming);
    if (kind === "uni") return this.#incoming.uni.push(incoming.readable);
    const outgoing = new Outgoing(this, id, this.#peer?.dataBidiLocal ?? 0);
    this.#writing.set(id, outgoing);
    this.#incoming.bidi.push({ readable: incoming.readable, writable: outgoing.writable });
  }

  #tick() {
    const now = Date.now(), idle = Math.min(IDLE, this.#peer?.idleTimeout || IDLE);
    if (now - this.#heard > idle) this.#end(new Error("the peer went silent"));
    else if (now - this.#spoke > idle / 3) this.send(ping(++this.#pings));
  }

  /** @param {Error} err for the streams @param {{ closeCode: number, reason: string }} [info] of an orderly end */
  #end(err, info) {
    if (this.#over) return;
    this.#over = err;
    clearInterval(this.#timer);
    this.#socket.close();
    for (const s of [...this.#reading.values(), ...this.#writing.values()]) s.fail(err);
    this.#incoming.bidi.close();
    this.#incoming.uni.close();
    this.#changed.resolve();
    this.#ready.reject(err);
    if (info) this.#closed.resolve(info);
    else this.#closed.reject(err);
  }
}

/** A promise with its ends. Nobody has to look at its error. */
function deferred() {
  const d = {};
  d.promise = new Promise((resolve, reject) => Object.assign(d, { resolve, reject }));
  d.promise.catch(() => {});
  return d;
}

/** A stream to which values are pushed. */
function queue() {
  const q = {};
  q.stream = new ReadableStream({
    start(controller) {
      q.push = (value) => controller.enqueue(value);
      q.close = () => controller.close();
    },
  });
  return q;
}
