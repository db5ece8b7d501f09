/** Options of a stream, and the items it yields. */
import type { AttentionFrame } from '@relay/protocol';
import type { UnknownFrame } from './frames.ts';

/** Optional frames of a stream. */
export type AttentionEvent = 'output' | 'transcript';

export interface AttentionOptions {
  /** The `offset` of an earlier stream to resume from. Default: from now on, with `resync` first. */
  since?: string;
  /** `output`: also `task_output`; `transcript`: also `transcript`. */
  events?: readonly AttentionEvent[];
  /** Stops the stream without an error. */
  signal?: AbortSignal;
}

export type ConnectionState =
  | { state: 'connecting' }
  /** `resumed`: the frames since the last one follow. */
  | { state: 'live'; resumed: boolean }
  /** The connection failed or was lost; the next attempt is at `untilMs` (since the epoch). */
  | { state: 'waiting'; error: Error; waitMs: number; untilMs: number };

export type AttentionItem =
  Exclude<AttentionFrame, { type: 'auth_ok' }> | UnknownFrame | ({ type: 'connection' } & ConnectionState);
