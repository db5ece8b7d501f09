/** An upgrade request between its arrival and its answer; says no with a whole HTTP response, so that any client can read why. */
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

const goodbyeMs = 1_000;
/** Headers that belong to this file: the response is framed here, and the connection ends. */
const ownHeaders = new Set(['connection', 'content-length', 'transfer-encoding']);

/**
 * To be called when the upgrade arrives, before anything is awaited. The HTTP server has let go of the connection by then: a
 * client that resets it meanwhile would raise an unhandled error, and take the process down.
 */
export function guardUpgrade(duplex: Duplex): void {
  duplex.on('error', destroy);
}

function destroy(this: Duplex): void {
  this.destroy();
}

/**
 * Writes the response and ends the connection; destroys it when the client has not left after a second.
 * Never throws, also when the client has gone already. Line breaks in header values are removed.
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
