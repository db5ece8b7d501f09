/**
 * TRANSCRIPT frames of one session (transcript.md §3): changes joined for a moment, each frame with the next version. Whatever is not said,
 * because it is too large, the relay reads too slowly or nothing listens, is a version that is skipped: apps see the gap and ask.
 */
import { type DaemonEvent, type Operation, transcriptLimits } from '@relay/protocol';
import { type Cancel, type Clock, elapsedOn } from '../clock.ts';

export interface StreamOptions {
  sessionId: string;
  /** The task whose turn it is; empty for a session at the desk. */
  taskId: () => string;
  clock: Clock;
  joinMs: number;
  /** The version of the next frame becomes the current one. */
  advance: () => void;
  /** Undefined while nothing listens. */
  send: () => ((frame: DaemonEvent<'TRANSCRIPT'>) => void) | undefined;
}

export interface Stream {
  /** Changes of the version `v`, in order. */
  push(ops: readonly Operation[], v: number): void;
  /** Says what waits. */
  flush(): void;
}

export function createStream({ sessionId, taskId, clock, joinMs, advance, send }: StreamOptions): Stream {
  let waiting: Operation[] = [];
  let bytes = 0;
  /** Too large for a frame: its version is skipped. */
  let skipped = false;
  let version: number | undefined;
  let saidAt = -Infinity;
  let cancel: Cancel | undefined;

  const flush = () => {
    cancel?.();
    cancel = undefined;
    if (version === undefined) return;
    const [v, ops] = [version, waiting];
    const say = skipped ? undefined : send();
    waiting = [];
    bytes = 0;
    skipped = false;
    version = undefined;
    saidAt = elapsedOn(clock);
    advance();
    // Exactly these members in this order: the relay forwards the text from `v` on.
    say?.({ type: 'event', event_type: 'TRANSCRIPT', task_id: taskId(), session_id: sessionId, v, ops });
  };

  const join = (operation: Operation) => {
    const before = waiting.at(-1);
    if (
      operation.op === 'add' &&
      before?.op === 'add' &&
      before.uuid === operation.uuid &&
      before.to === operation.to
    ) {
      bytes += Buffer.byteLength(JSON.stringify(operation.text), 'utf8');
      waiting[waiting.length - 1] = { ...before, text: before.text + operation.text };
      if (Buffer.byteLength(before.text, 'utf8') > transcriptLimits.operationBytes) skipped = true;
      return;
    }
    const size = Buffer.byteLength(JSON.stringify(operation), 'utf8') + 1;
    bytes += size;
    if (size > transcriptLimits.operationBytes) skipped = true;
    else waiting.push(operation);
  };

  return {
    push(ops, v) {
      if (ops.length === 0) return;
      version = v;
      for (const operation of ops) if (!skipped) join(operation);
      if (bytes > transcriptLimits.frameBytes - 1024 || waiting.length >= transcriptLimits.operations) skipped = true;
      if (skipped) {
        waiting = [];
        bytes = 0;
      }
      const sinceMs = elapsedOn(clock) - saidAt;
      if (sinceMs >= joinMs) flush();
      else cancel ??= clock.after(joinMs - sinceMs, flush);
    },
    flush,
  };
}
