// The frames of qmux-01: QUIC's frames in the messages of a WebSocket, each message
// a record of one or more.

import { Cursor, Writer } from "../bytes.js";

/** The largest record either side takes unless it says otherwise, in bytes. */
export const MAX_RECORD = 16382;

/** The most payload put into one STREAM frame, in bytes. */
export const MAX_PAYLOAD = 16000;

/** The code of a connection that ends over a malformed frame. */
const VIOLATION = 1002;

const PADDING = 0x00n, RESET_STREAM = 0x04n, STOP_SENDING = 0x05n, MAX_DATA = 0x10n, MAX_STREAM_DATA = 0x11n;
const MAX_STREAMS_BIDI = 0x12n, MAX_STREAMS_UNI = 0x13n, CONNECTION_CLOSE = 0x1cn, APPLICATION_CLOSE = 0x1dn;
const PARAMETERS = 0x3f5153300d0a0d0an, PING = 0x348c67529ef8c7bdn, PONG = 0x348c67529ef8c7ben;

/** Numbers of the transport parameters that we read or write. */
const IDS = {
  idleTimeout: 0x01n, // milliseconds; 0: none
  data: 0x04n, // bytes on the connection
  dataBidiLocal: 0x05n, // bytes on streams that the sender of the parameters opens
  dataBidiRemote: 0x06n, // bytes on those that the receiver opens
  dataUni: 0x07n,
  streamsBidi: 0x08n,
  streamsUni: 0x09n,
};

/** @typedef {Record<keyof typeof IDS, number>} Parameters */

/** @param {Parameters} p */
export function parameters(p) {
  return new Writer().varint(PARAMETERS).message((w) => {
    for (const [name, id] of Object.entries(IDS)) w.varint(id).message((v) => v.varint(p[name]));
  });
}

/** @param {number} id @param {number} offset of data in the stream @param {Uint8Array} data @param {boolean} fin */
export function stream(id, offset, data, fin) {
  return new Writer().varint(fin ? 0x0f : 0x0e).varint(id).varint(offset).bytes(data);
}

/** @param {number} id @param {number} code @param {number} size of what was sent before */
export function resetStream(id, code, size) {
  return new Writer().varint(RESET_STREAM).varint(id).varint(code).varint(size);
}

/** @param {number} id @param {number} code */
export function stopSending(id, code) {
  return new Writer().varint(STOP_SENDING).varint(id).varint(code);
}

/** @param {number} bytes since the connection began */
export function maxData(bytes) {
  return new Writer().varint(MAX_DATA).varint(bytes);
}

/** @param {number} id @param {number} bytes since the stream began */
export function maxStreamData(id, bytes) {
  return new Writer().varint(MAX_STREAM_DATA).varint(id).varint(bytes);
}

/** @param {boolean} uni @param {number} streams since the connection began */
export function maxStreams(uni, streams) {
  return new Writer().varint(uni ? MAX_STREAMS_UNI : MAX_STREAMS_BIDI).varint(streams);
}

/** @param {number} sequence */
export function ping(sequence) {
  return new Writer().varint(PING).varint(sequence);
}

/** @param {number} sequence of the ping */
export function pong(sequence) {
  return new Writer().varint(PONG).varint(sequence);
}

/** @param {number} code of the session's end @param {string} reason */
export function applicationClose(code, reason) {
  return new Writer().varint(APPLICATION_CLOSE).varint(code).string(reason);
}

/** @param {string} reason why the peer's frames cannot be taken */
export function connectionClose(reason) {
  return new Writer().varint(CONNECTION_CLOSE).varint(VIOLATION).varint(0).string(reason);
}

/** Decodes a record, a frame at a time. Throws where it is malformed. Frames that only
 * inform, and padding, are left out.
 * @param {Uint8Array} record */
export function* decode(record) {
  if (record.length > MAX_RECORD) throw new Error(`record of ${record.length} bytes`);
  for (const c = new Cursor(record); c.left > 0; ) {
    const frame = decodeFrame(c.bigint(), c);
    if (frame) yield frame;
  }
}

/** @param {bigint} type @param {Cursor} c */
function decodeFrame(type, c) {
  if (type >= 0x08n && type <= 0x0fn) return decodeStream(Number(type), c);
  switch (type) {
    case PADDING: return null;
    case RESET_STREAM: return { type: "reset", id: c.varint(), code: c.varint(), size: c.varint() };
    case STOP_SENDING: return { type: "stop", id: c.varint(), code: c.varint() };
    case MAX_DATA: return { type: "max data", bytes: c.varint() };
    case MAX_STREAM_DATA: return { type: "max stream data", id: c.varint(), bytes: c.varint() };
    case MAX_STREAMS_BIDI: return { type: "max streams", uni: false, streams: c.varint() };
    case MAX_STREAMS_UNI: return { type: "max streams", uni: true, streams: c.varint() };
    case 0x14n: case 0x16n: case 0x17n: c.varint(); return null; // blocked
    case 0x15n: c.varint(); c.varint(); return null; // likewise
    case CONNECTION_CLOSE: return { type: "broken", code: c.varint(), frame: c.varint(), reason: c.string() };
    case APPLICATION_CLOSE: return { type: "close", code: c.varint(), reason: c.string() };
    case 0x30n: c.take(c.left); return null; // datagram, which we did not ask for
    case 0x31n: c.bytes(); return null;
    case PARAMETERS: return { type: "parameters", ...decodeParameters(new Cursor(c.bytes())) };
    case PING: return { type: "ping", sequence: c.varint() };
    case PONG: return { type: "pong", sequence: c.varint() };
  }
  throw new Error(`frame of type 0x${type.toString(16)}`);
}

/** @param {number} type whose bits say what is there: 4 offset, 2 length, 1 FIN @param {Cursor} c */
function decodeStream(type, c) {
  const id = c.varint();
  if (type & 4) c.varint(); // a reliable channel: the offset is what we have
  const data = type & 2 ? c.bytes() : c.take(c.left);
  return { type: "stream", id, data, fin: (type & 1) === 1 };
}

/** @param {Cursor} c @returns {Parameters} */
function decodeParameters(c) {
  const values = new Map();
  while (c.left > 0) {
    const id = c.bigint();
    if (values.has(id)) throw new Error(`parameter 0x${id.toString(16)} comes twice`);
    values.set(id, c.bytes());
  }
  const number = (id) => (values.has(id) ? new Cursor(values.get(id)).varint() : 0);
  return /** @type {Parameters} */ (Object.fromEntries(Object.entries(IDS).map(([name, id]) => [name, number(id)])));
}
