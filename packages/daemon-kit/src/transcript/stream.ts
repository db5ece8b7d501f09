/**
 * TRANSCRIPT frames of one session (ADR 35): changes joined for a moment, each frame with the next version. A change that is not
 * sent, because it is too large, the relay reads too slowly or no connection is open, is a skipped version: apps see the gap and ask.
 * Apps that read no items do not ask: where operations add another text than these apps always got, the frame carries that text too.
 */
import { type DaemonEvent, type Operation, shownText, transcriptLimits } from '@relay/protocol';
import { entryBytes, keepHead } from '../bounds.ts';
import { type Cancel, type Clock, elapsedOn } from '../clock.ts';
import { waitingText } from '../output.ts';

interface StreamOptions {
  sessionId: string;
  /** The task whose turn it is; empty for a session started locally. */
  taskId: () => string;
  clock: Clock;
  joinMs: number;
  /** Apps that read no items get the printed output; else the text that the operations add. */
  prints: boolean;
  /** The version of the next frame. */
  next: () => number;
  /** The version of the next frame becomes the current one. */
  advance: () => void;
  /** Undefined without a receiver. */
  send: () => ((frame: DaemonEvent<'TRANSCRIPT'>) => void) | undefined;
}

export interface Stream {
  /** Changes of the version `v`, in order. */
  push(ops: readonly Operation[], v: number): void;
  /** Text for an app that reads no items, bounded as OUTPUT is. */
  print(text: string): void;
  /** Sends the pending changes. */
  flush(): void;
  /** Sends a version without changes: apps that lack an earlier one see the gap, and ask. */
  announce(): void;
}

/** The bound of the operations: the other members of a frame fit in the rest. */
const maxFrameBytes = transcriptLimits.frameBytes - 1024;

/** Cuts the text into portions that each fit into an operation. */
function* piecesOf(text: string): Generator<string> {
  const { operationBytes } = transcriptLimits;
  for (let rest = text; rest !== '';) {
    let piece = keepHead(rest, operationBytes);
    while (entryBytes({ op: 'print', text: piece }) > operationBytes)
      piece = keepHead(piece, Math.ceil(piece.length / 2));
    yield piece;
    rest = rest.slice(piece.length);
  }
}

export function createStream({ sessionId, taskId, clock, joinMs, prints, next, advance, send }: StreamOptions): Stream {
  let waiting: Operation[] = [];
  let bytes = 0;
  /** Too large for a frame: its version is skipped. */
  let skipped = false;
  let version: number | undefined;
  let sentAt = -Infinity;
  let cancel: Cancel | undefined;
  let isDue = false;
  const printed = waitingText();

  const emit = (v: number, ops: Operation[]) => {
    advance();
    // Exactly these members in this order: the relay forwards the text from `v` on.
    send()?.({ type: 'event', event_type: 'TRANSCRIPT', task_id: taskId(), session_id: sessionId, v, ops });
  };

  const flush = () => {
    cancel?.();
    cancel = undefined;
    const text = printed.take();
    const [v, ops, size, isSkipped] = [version, waiting, bytes, skipped];
    if (v === undefined && text === '') return;
    waiting = [];
    bytes = 0;
    skipped = false;
    version = undefined;
    sentAt = elapsedOn(clock);
    const isSent = !prints || text === shownText(ops);
    const print: Operation = { op: 'print', text };
    const fits = size + entryBytes(print) <= maxFrameBytes;
    if (isSkipped) advance();
    else if (v !== undefined) emit(v, isSent ? ops : [...ops, fits ? print : { op: 'print', text: '' }]);
    if (isSent || (v !== undefined && !isSkipped && fits)) return;
    for (const piece of piecesOf(text)) emit(next(), [{ op: 'print', text: piece }]);
  };

  /** The first change after a silence is sent at once, with the others of the same tick. */
  const schedule = () => {
    const sinceMs = elapsedOn(clock) - sentAt;
    if (sinceMs < joinMs) cancel ??= clock.after(joinMs - sinceMs, flush);
    else if (!isDue) {
      isDue = true;
      queueMicrotask(() => {
        isDue = false;
        flush();
      });
    }
  };

  const join = (operation: Operation) => {
    const before = waiting.at(-1);
    if (
      operation.op === 'add' &&
      before?.op === 'add' &&
      before.uuid === operation.uuid &&
      before.to === operation.to
    ) {
      const text = before.text + operation.text;
      if (Buffer.byteLength(text, 'utf8') <= transcriptLimits.operationBytes) {
        bytes += Buffer.byteLength(JSON.stringify(operation.text), 'utf8');
        waiting[waiting.length - 1] = { ...before, text };
        return;
      }
    }
    const size = entryBytes(operation);
    bytes += size;
    if (size > transcriptLimits.operationBytes) skipped = true;
    else waiting.push(operation);
  };

  return {
    push(ops, v) {
      if (ops.length === 0) return;
      version = v;
      for (const operation of ops) if (!skipped) join(operation);
      if (bytes > maxFrameBytes || waiting.length >= transcriptLimits.operations) skipped = true;
      if (skipped) {
        waiting = [];
        bytes = 0;
      }
      schedule();
    },
    print(text) {
      if (!prints || !send()) return;
      printed.add(text);
      schedule();
    },
    flush,
    announce() {
      flush();
      emit(next(), []);
    },
  };
}
