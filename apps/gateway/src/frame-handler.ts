/** Handles the frames of daemons: decodes, traces, retries during an outage, and closes the connection of a frame that fails. */
import type { FromDaemonFrame } from '@relay/protocol';
import type { Tracer } from '@relay/telemetry';
import type { DaemonConnection } from './connection.ts';
import { FrameFailures } from './failures.ts';
import type { FairShare } from './fair-share.ts';
import type { Inbound } from './inbound.ts';
import { createLargeFrames } from './large-frames.ts';
import { outlast } from './outage.ts';

export interface FrameHandlerDeps {
  inbound: Inbound;
  share: FairShare;
  tracer: Tracer | undefined;
  isClosing: () => boolean;
}

/** Handles one text frame; undefined when that is done. Never throws and never rejects: a frame that fails closes its connection. */
export type FrameHandler = (connection: DaemonConnection, text: string) => Promise<void> | undefined;

export function createFrameHandler({ inbound, share, tracer, isClosing }: FrameHandlerDeps): FrameHandler {
  const failures = new FrameFailures();
  const large = createLargeFrames(share);

  /** A span over what a frame causes; a pong causes nothing. */
  const traced = async ({ deviceId, id }: DaemonConnection, type: string, work: () => Promise<void>): Promise<void> => {
    if (!tracer || type === 'pong') return work();
    const span = tracer.start(`daemon ${type}`, {
      kind: 'server',
      attributes: { 'relay.device_id': deviceId, 'relay.connection_id': id },
    });
    let failed = true;
    try {
      await span.within(work);
      failed = false;
    } finally {
      span.end(failed);
    }
  };

  const fail = (connection: DaemonConnection, text: string, error: unknown): void => {
    const dropped = failures.blames(connection.deviceId, text, error);
    connection.logger.error({ err: error, dropped }, 'a frame could not be handled');
    // It gets no receipt, and the frames behind it would be lost as well: the daemon keeps them until it connects again.
    if (!dropped) connection.close('overloaded');
  };

  const handle = (
    connection: DaemonConnection,
    text: string,
    decode: () => FromDaemonFrame | undefined,
  ): Promise<void> | undefined => {
    try {
      const frame = decode();
      if (!frame || (!tracer && inbound.frameAtOnce(connection, frame, text))) return undefined;
      return traced(connection, frame.type, () =>
        outlast(() => inbound.frame(connection, frame, text), isClosing),
      ).catch((error: unknown) => fail(connection, text, error));
    } catch (error) {
      fail(connection, text, error);
      return undefined;
    }
  };

  return (connection, text) => {
    if (!connection.admitted) return undefined;
    if (!large.is(text)) return handle(connection, text, () => connection.decode(text));
    return large.decode(connection, text).then(
      (frame) => handle(connection, text, () => frame),
      (error: unknown) => fail(connection, text, error),
    );
  };
}
