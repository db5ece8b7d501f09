/** The WebSocket of Node: sends the token in a header, reports why an upgrade was refused, and reads only as fast as the caller takes frames. */
import type { IncomingMessage } from 'node:http';
import { proxyAgentFor } from '@relay/protocol/proxy';
import { WebSocket } from 'ws';
import { NetworkError } from './errors.ts';
import { refusalOf } from './request.ts';
import { type OpenSocket, closeTimeoutMs, endingOf } from './socket.ts';

/** The relay pings every 30 s; the socket counts as dead after this much silence. */
const silenceMs = 75_000;
const maxFrameBytes = 16 * 1024 * 1024;
const bodyBytes = 4096;

export const nodeSocket: OpenSocket = ({ url, token }, events) => {
  const socket = new WebSocket(url, {
    headers: token === undefined ? {} : { Authorization: `Bearer ${token}` },
    maxPayload: maxFrameBytes,
    agent: proxyAgentFor(url),
    perMessageDeflate: false,
  });
  let wasOpen = false;
  let failure: Error | undefined;
  let silence: NodeJS.Timeout | undefined;

  socket.on('open', () => {
    wasOpen = true;
    events.onOpen();
  });
  socket.on('message', (data: Buffer, isBinary: boolean) => {
    if (!isBinary) events.onText(data.toString('utf8'));
  });
  socket.on('error', (error) => {
    if (!wasOpen) failure ??= new NetworkError('The relay cannot be reached.', { cause: error });
  });
  socket.on('unexpected-response', (_request, response) => {
    // This listener disables the library's own abort; 'close' follows `terminate`.
    void bodyOf(response).then((text) => {
      failure = refusalOf(response.statusCode ?? 0, headersOf(response), text);
      socket.terminate();
    });
  });
  socket.on('close', (code: number, reason: Buffer) => {
    clearTimeout(silence);
    events.onEnd(failure ?? endingOf(wasOpen, code, reason.toString('utf8')));
  });
  const renew = () => {
    clearTimeout(silence);
    if (socket.readyState === WebSocket.OPEN)
      silence = setTimeout(() => (socket.isPaused ? renew() : socket.terminate()), silenceMs);
  };
  for (const sign of ['open', 'message', 'ping', 'pong'] as const) socket.on(sign, renew);

  return {
    send: (text) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(text);
    },
    close: () => {
      if (socket.isPaused) socket.resume();
      socket.close(1000, 'normal');
      const late = setTimeout(() => socket.terminate(), closeTimeoutMs);
      socket.once('close', () => clearTimeout(late));
    },
    pause: () => socket.pause(),
    resume: () => {
      if (socket.isPaused) socket.resume();
    },
  };
};

/** Reads the body of a refused upgrade, up to the bytes needed for the reason. */
async function bodyOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > bodyBytes) break;
    }
  } catch {
    // The status is enough.
  }
  return Buffer.concat(chunks).toString('utf8');
}

function headersOf(response: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(response.headers))
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  return headers;
}
