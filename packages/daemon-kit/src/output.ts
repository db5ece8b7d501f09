/** The output of a program: joined for a moment and bounded (`OutputStream`), or only its last part kept (`tail`). */
import { StringDecoder } from 'node:string_decoder';
import { fieldBytes, keepTail, tailOf } from './bounds.ts';
import type { Cancel, Clock } from './clock.ts';

interface OutputStream {
  /** A writer for one stream of bytes. Characters that are split between chunks stay whole. */
  writer(): (chunk: Buffer) => void;
  /** Adds a complete text. */
  add(text: string): void;
  /** Emits the pending text. */
  flush(): void;
  /** Nothing more is emitted. */
  stop(): void;
}

/** Pending text: of more than 64 KiB the last part, preceded by a note about the omitted part. */
interface PendingText {
  add(text: string): void;
  /** Returns all of it, and is empty afterwards. */
  take(): string;
}

export function waitingText(): PendingText {
  let waiting = '';
  let leftOut = 0;
  const shorten = () => {
    const kept = keepTail(waiting, fieldBytes.output);
    leftOut += waiting.length - kept.length;
    waiting = kept;
  };
  return {
    add(text) {
      waiting += text;
      if (waiting.length > 4 * fieldBytes.output) shorten();
    },
    take() {
      shorten();
      const text = leftOut > 0 ? `[… ${leftOut} characters left out]\n${waiting}` : waiting;
      waiting = '';
      leftOut = 0;
      return text;
    },
  };
}

/**
 * Joins chunks for at most `joinMs`. Of the text of that time only the last 64 KiB are emitted, preceded by a note: a program
 * that prints endlessly must not fill the memory or the connection.
 */
export function outputStream(emit: (text: string) => void, clock: Clock, joinMs: number = 250): OutputStream {
  const waiting = waitingText();
  let cancel: Cancel | undefined;
  let stopped = false;
  const decoders: StringDecoder[] = [];

  const flush = () => {
    cancel?.();
    cancel = undefined;
    const text = waiting.take();
    if (text !== '' && !stopped) emit(text);
  };
  const add = (text: string) => {
    if (text === '' || stopped) return;
    waiting.add(text);
    cancel ??= clock.after(joinMs, flush);
  };

  return {
    add,
    writer() {
      const decoder = new StringDecoder('utf8');
      decoders.push(decoder);
      return (chunk) => add(decoder.write(chunk));
    },
    flush() {
      for (const decoder of decoders) add(decoder.end());
      flush();
    },
    stop() {
      stopped = true;
      cancel?.();
    },
  };
}

/** The last `maxBytes` bytes of a stream. */
export function tail(maxBytes: number): { push: (chunk: Buffer) => void; text: () => string } {
  let chunks: Buffer[] = [];
  let size = 0;
  return {
    push(chunk) {
      chunks.push(chunk);
      size += chunk.length;
      // Joined from time to time, so that neither the bytes nor the number of chunks grow without bound.
      if (size <= 2 * maxBytes && chunks.length < 1024) return;
      const joined = Buffer.concat(chunks);
      const kept = Buffer.from(joined.subarray(Math.max(0, joined.length - maxBytes - 4)));
      chunks = [kept];
      size = kept.length;
    },
    text: () => tailOf(Buffer.concat(chunks), maxBytes),
  };
}
