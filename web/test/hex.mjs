// Bytes as tests write them.

/** @param {string} text hex, with or without spaces */
export function unhex(text) {
  return new Uint8Array(Buffer.from(text.replaceAll(" ", ""), "hex"));
}

/** @param {Uint8Array} bytes */
export function hex(bytes) {
  return Buffer.from(bytes).toString("hex");
}
