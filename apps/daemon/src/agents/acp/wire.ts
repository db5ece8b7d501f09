/**
 * Sends and reads one ACP message per line over the pipes of a process. Unlike the SDK's own stream it does not reply
 * to a line that is not a message: it would write to an agent for every warning the agent prints, and a flood of them
 * could block both.
 */
import type { Readable, Writable } from 'node:stream';
import type { AnyMessage, Stream } from '@agentclientprotocol/sdk';
import { type Fields, recordOf } from '@relay/daemon-kit';

interface WireOptions {
  input: Writable;
  output: Readable;
  /** Longer lines close the connection. */
  maxLineBytes?: number;
  /** Called for a line that is not a message, or answers no request; only the first twenty are shown. */
  onNoise?: (line: string) => void;
  /**
   * A notification, the moment it is read: before any response that the agent sent after it. True when it was handled; else it is
   * passed on.
   */
  onNotification?: (method: string, params: unknown) => boolean;
  /** The result of a request, the moment it is read: before any notification that the agent sent after it. */
  onResult?: (result: unknown) => void;
}

/** The limit of the SDK; an agent can send whole files. */
const defaultLineBytes = 32 * 1024 * 1024;
const maxNoise = 20;

/** Bytes in, whole lines out. A line beyond the limit throws. A rest without a line break is dropped: it is incomplete. */
export function lineSplitter(maxLineBytes: number): (chunk: Buffer) => string[] {
  let parts: Buffer[] = [];
  let size = 0;
  return (chunk) => {
    const lines: string[] = [];
    let from = 0;
    for (let at = chunk.indexOf(0x0a); at >= 0; at = chunk.indexOf(0x0a, from)) {
      parts.push(chunk.subarray(from, at));
      lines.push(Buffer.concat(parts).toString('utf8'));
      parts = [];
      size = 0;
      from = at + 1;
    }
    const rest = chunk.subarray(from);
    size += rest.length;
    if (rest.length > 0) parts.push(rest);
    if (size > maxLineBytes) {
      parts = [];
      size = 0;
      throw new Error(`the agent sent a line of more than ${maxLineBytes} bytes`);
    }
    return lines;
  };
}

const maxStarts = 20;

/**
 * The JSON-RPC message of a line, or undefined. Launchers print to the same output without a line break (an escape sequence, a banner), so
 * a message can begin later in the line.
 */
export function messageOf(line: string): AnyMessage | undefined {
  const whole = messageIn(line);
  // A damaged message can contain a sound object, which the agent did not send as a message.
  if (whole || /^\s*\{\s*"/.test(line) || !line.includes('"jsonrpc"')) return whole;
  let from = line.indexOf('{');
  for (let tries = 0; from >= 0 && tries < maxStarts; tries++) {
    const message = messageIn(line.slice(from));
    if (message) return message;
    from = line.indexOf('{', from + 1);
  }
  return undefined;
}

function messageIn(text: string): AnyMessage | undefined {
  if (!text.trimStart().startsWith('{')) return undefined;
  try {
    const value = JSON.parse(text.trim()) as Record<string, unknown>;
    const isMessage = value.jsonrpc === '2.0' && (typeof value.method === 'string' || 'id' in value);
    return isMessage ? (value as unknown as AnyMessage) : undefined;
  } catch {
    return undefined;
  }
}

export function messageStream(options: WireOptions): Stream {
  const { input, output, maxLineBytes = defaultLineBytes, onNoise, onNotification, onResult } = options;
  let noise = 0;
  let over = false;
  /** Ids of requests without an answer. The library prints the id of any other answer to the terminal. */
  const pendingIds = new Set<unknown>();
  const isStray = (message: AnyMessage) => !('method' in message) && !pendingIds.delete(message.id);
  const readable = new ReadableStream<AnyMessage>({
    start(controller) {
      const split = lineSplitter(maxLineBytes);
      const end = (error?: unknown) => {
        if (over) return;
        over = true;
        if (error === undefined) controller.close();
        else controller.error(error);
      };
      output.on('data', (chunk: Buffer) => {
        if (over) return;
        try {
          for (const line of split(chunk)) {
            const read = messageOf(line);
            const message = read && isStray(read) ? undefined : read;
            if (
              message &&
              'method' in message &&
              !('id' in message) &&
              onNotification?.(message.method, message.params)
            )
              continue;
            if (message && 'result' in message) onResult?.(message.result);
            if (message) controller.enqueue(message);
            else if (line.trim() !== '' && ++noise <= maxNoise) onNoise?.(line.slice(0, 500));
          }
        } catch (error) {
          end(error);
          output.destroy();
          return;
        }
        // A peer that reads too slowly holds the agent back instead of filling the memory.
        if ((controller.desiredSize ?? 1) < -64) output.pause();
      });
      output.on('end', () => end());
      output.on('close', () => end());
      output.on('error', end);
    },
    pull() {
      output.resume();
    },
    cancel() {
      over = true;
      output.destroy();
    },
  });
  const writable = new WritableStream<AnyMessage>({
    write: (message) =>
      new Promise((resolve, reject) => {
        if ('method' in message && 'id' in message) pendingIds.add(message.id);
        input.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()));
      }),
  });
  return { readable, writable };
}

const endsInHalf = /[\ud800-\udbff]$/;

/**
 * Returns a function that holds a trailing half character back for the next chunk of the same kind and session: some agents split text at any
 * unit of UTF-16, and send the two halves of a character in two chunks.
 */
export function joinHalves(): (sessionId: string, update: Fields) => Fields {
  const kept = new Map<string, string>();
  return (sessionId, update) => {
    const { sessionUpdate: kind } = update;
    const content = recordOf(update.content);
    if (typeof content.text !== 'string' || typeof kind !== 'string' || !kind.endsWith('_chunk')) return update;
    const key = `${kind} ${sessionId}`;
    const text = (kept.get(key) ?? '') + content.text;
    const half = endsInHalf.exec(text)?.[0] ?? '';
    if (half === '') kept.delete(key);
    else kept.set(key, half);
    return { ...update, content: { ...content, text: text.slice(0, text.length - half.length) } };
  };
}
