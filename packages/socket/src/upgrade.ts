/**
 * An upgrade request between its arrival and its answer; refuses with a complete HTTP response, so that any client can
 * read the reason.
 */
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

const goodbyeMs = 1_000;
/** Headers set only by this file: it frames the response, and the connection closes. */
const ownHeaders = new Set(['connection', 'content-length', 'transfer-encoding']);

/**
 * Call it when the upgrade arrives, before the first await. The HTTP server has already released the connection: a
 * reset by the client would raise an unhandled error and crash the process.
 */
export function guardUpgrade(duplex: Duplex): void {
  duplex.on('error', destroy);
}

function destroy(this: Duplex): void {
  this.destroy();
}

/**
 * Writes the response and closes the connection; destroys it if the client is still there after a second.
 * Never throws, even if the client has already left. Removes line breaks from header values.
 */
export function refuseUpgrade(duplex: Duplex, status: number, headers: Record<string, string>, body: string): void {
  guardUpgrade(duplex);
  if (duplex.destroyed || !duplex.writable) {
    duplex.destroy();
    return;
  }
  const lines = Object.entries(headers)
    .filter(([name]) => !ownHeaders.has(name.toLowerCase()))
    .map(([name, value]) => `${name}: ${value.replace(/[^\t\x20-\x7e\x80-\xff]/g, '')}\r\n`);
  const timer = setTimeout(() => duplex.destroy(), goodbyeMs);
  duplex.once('close', () => clearTimeout(timer));
  // Bytes that the client still sends are read and dropped: unread bytes would turn the goodbye into a reset.
  duplex.resume();
  duplex.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Refused'}\r\n` +
      `Connection: close\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${lines.join('')}\r\n${body}`,
  );
}
