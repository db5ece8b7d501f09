/** Handles the frames of daemons: decides whether they count, decodes, traces, retries during an outage, and closes on a failure. */
import { createHash } from 'node:crypto';
import { isRefusedContent, isUnavailable } from '@relay/database';
import type { Tracer } from '@relay/telemetry';
import type { DaemonConnection, Received } from '../connection/connection.ts';
import type { FairShare } from './fair-share.ts';
import type { FrameDispatcher } from './inbound.ts';
import { createLargeFrames } from './large-frames.ts';
import type { GatewayMetrics } from '../connection/metrics.ts';
import { outlast } from '../connection/outage.ts';
import { answerTypes } from '../history/questions.ts';

interface FrameHandlerDeps {
  inbound: FrameDispatcher;
  share: FairShare;
  tracer: Tracer | undefined;
  metrics: Pick<GatewayMetrics, 'events'>;
  isClosing: () => boolean;
}

/** Handles one text frame: at once, or when the promise resolves. Never throws and never rejects: a frame that fails closes its connection. */
export type FrameHandler = (connection: DaemonConnection, text: string) => void | Promise<void>;

/**
 * Frames that can pass a report: they neither need its result nor change rows that it would overwrite. Other frames,
 * such as `status`, wait.
 */
const passing = new RegExp(`^\\s*\\{\\s*"type"\\s*:\\s*"(?:event|${answerTypes.join('|')})"`);
const report = /^\s*\{\s*"type"\s*:\s*"report_sessions"/;

/** Digesting a larger report would delay other frames: it waits for its turn. */
const maxDigestCharacters = 4 * 1024 * 1024;

/**
 * Whether a frame can overtake the report before it, whose write can take seconds (rules, 4.8). Compares the beginnings
 * of both.
 */
export const passesReport = (head: string, current: string): boolean => report.test(current) && passing.test(head);

const triesOfUnknown = 3;
const maxDevices = 1000;

/**
 * A frame failed: is the frame to blame, or the relay? If the relay is to blame, the gateway sends no receipt, so that
 * the daemon repeats the frame (rules, 9.5). A frame that always fails must not keep its daemon offline forever.
 */
class FrameFailures {
  /** Maps a device to its newest frame that failed for an unknown reason, and how often. The oldest go first. */
  readonly #unknown = new Map<string, { hash: string; times: number }>();

  /**
   * Whether the frame is to blame: the database refused a value in it, or the same text of this device failed the third
   * time for a reason other than an outage.
   */
  blames(deviceId: string, text: string, error: unknown): boolean {
    if (isUnavailable(error)) return false;
    if (isRefusedContent(error)) return true;
    const hash = createHash('sha256').update(text).digest('base64');
    const before = this.#unknown.get(deviceId);
    const times = before?.hash === hash ? before.times + 1 : 1;
    this.#unknown.delete(deviceId);
    if (times >= triesOfUnknown) return true;
    this.#unknown.set(deviceId, { hash, times });
    const [oldest] = this.#unknown.size > maxDevices ? this.#unknown.keys() : [];
    if (oldest !== undefined) this.#unknown.delete(oldest);
    return false;
  }
}

export function createFrameHandler({ inbound, share, tracer, metrics, isClosing }: FrameHandlerDeps): FrameHandler {
  const failures = new FrameFailures();
  const large = createLargeFrames(share);

  const work = (connection: DaemonConnection, frame: Received) =>
    outlast(() => inbound.dispatch(connection, frame), isClosing);

  /** Traces the work that a frame causes; a pong causes no work. */
  const traced = async (connection: DaemonConnection, frame: Received, active: Tracer): Promise<void> => {
    const span = active.start(`daemon ${frame.type}`, {
      kind: 'server',
      attributes: { 'relay.device_id': connection.deviceId, 'relay.connection_id': connection.id },
    });
    let failed = true;
    try {
      await span.within(async () => work(connection, frame));
      failed = false;
    } finally {
      span.end(failed);
    }
  };

  const fail = (connection: DaemonConnection, text: string, error: unknown): void => {
    const dropped = failures.blames(connection.deviceId, text, error);
    connection.logger.error({ err: error, dropped }, 'a frame could not be handled');
    // The daemon gets no receipt, and would lose the frames after this one as well: it keeps them until it reconnects.
    if (!dropped) connection.close('overloaded');
  };

  const handle = (connection: DaemonConnection, frame: Received | undefined): void | Promise<void> => {
    if (!frame) return;
    const startedAtMs = performance.now();
    const done = tracer && frame.type !== 'pong' ? traced(connection, frame, tracer) : work(connection, frame);
    if (!done || frame.type !== 'event') return done;
    return done.finally(() => metrics.events.observe((performance.now() - startedAtMs) / 1000));
  };

  /** A large report that did not change costs its digest: it is not decoded, and waits for no turn. */
  const repeated = (connection: DaemonConnection, text: string) =>
    text.length <= maxDigestCharacters && report.test(text) ? inbound.repeat(connection, text) : undefined;

  const receiveLarge = (connection: DaemonConnection, text: string) =>
    repeated(connection, text) ?? large.process(connection, text, (frame) => handle(connection, frame));
  const receiveSmall = (connection: DaemonConnection, text: string) =>
    connection.takesPong(text) ? undefined : handle(connection, connection.decode(text));
  const settled = (connection: DaemonConnection, text: string, done: Promise<void>) =>
    done.catch((error: unknown) => fail(connection, text, error));

  // Not a closure for each frame: most are done at once.
  const receive = (connection: DaemonConnection, text: string): void | Promise<void> => {
    if (!connection.acceptsFrames) return;
    try {
      const done = large.is(text) ? receiveLarge(connection, text) : receiveSmall(connection, text);
      return done && settled(connection, text, done);
    } catch (error) {
      fail(connection, text, error);
    }
  };
  const receiveLater = (connection: DaemonConnection, text: string, beginning: Promise<void>) =>
    beginning.then(() => receive(connection, text));

  // Frames that come before the device is ours wait; the socket keeps their order.
  return (connection, text) =>
    connection.beginning ? receiveLater(connection, text, connection.beginning) : receive(connection, text);
}
