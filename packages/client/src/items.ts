/** Options of a stream, and the items it yields. */
import type { AttentionFrame } from '@relay/protocol';
import type { UnknownFrame } from './frames.ts';

/** Further frames that a stream can ask for. */
export type AttentionEvent = 'output' | 'transcript';

export interface AttentionOptions {
  /** The `offset` of an earlier stream, to go on after it. Default: from now on, with `resync` first. */
  since?: string;
  /** `output`: also `task_output`; `transcript`: also `transcript`. */
  events?: readonly AttentionEvent[];
  /** Ends the stream, without an error. */
  signal?: AbortSignal;
}

export type ConnectionState =
  | { state: 'connecting' }
  /** `resumed`: what happened since the last frame follows. */
  | { state: 'live'; resumed: boolean }
  /** The connection was lost, or not made; the next attempt is at `untilMs` (since the epoch). */
  | { state: 'waiting'; error: Error; waitMs: number; untilMs: number };

export type AttentionItem =
  Exclude<AttentionFrame, { type: 'auth_ok' }> | UnknownFrame | ({ type: 'connection' } & ConnectionState);
