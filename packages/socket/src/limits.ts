/** Every bound of a live socket, in one place. */

export interface SocketLimits {
  /** Inbound: a longer frame closes the socket with 1009. */
  maxFrameBytes: number;
  /** Inbound frames that wait to be handled: above it reading pauses, at half of it reading goes on. */
  maxQueuedFrames: number;
  /** The same for their bytes. A single frame can exceed it, so the bound on memory is this plus the longest frame. */
  maxQueuedBytes: number;
  /** Inbound pings and pongs with their headers: so many at once, which come back at 1 KiB a second; more closes the socket with 1008. */
  controlBurstBytes: number;
  /** Outbound: above it droppable frames are not written. */
  droppableUnsentBytes: number;
  /** Outbound: a reader is too slow if more than this is unsent although it had at least `unsentGraceMs` to take it. */
  maxUnsentBytes: number;
  /** Looked at in steps of this, so a reader is judged after one to two of them. */
  unsentGraceMs: number;
  /** Outbound: amount that can always wait, for any time. */
  maxBurstBytes: number;
  /**
   * Outbound: a reader that takes no frame for this long while frames wait is too slow. A long frame can take longer.
   */
  stallMs: number;
  /** How long a peer has to answer the close frame, and a refused one to read its refusal. */
  closeTimeoutMs: number;
}

export function withDefaults(limits: Partial<SocketLimits> & Pick<SocketLimits, 'maxFrameBytes'>): SocketLimits {
  const maxUnsentBytes = limits.maxUnsentBytes ?? 2 ** 20;
  return {
    maxFrameBytes: limits.maxFrameBytes,
    maxQueuedFrames: limits.maxQueuedFrames ?? 64,
    maxQueuedBytes: limits.maxQueuedBytes ?? 2 ** 20,
    controlBurstBytes: limits.controlBurstBytes ?? 2 ** 20,
    droppableUnsentBytes: limits.droppableUnsentBytes ?? 2 ** 16,
    maxUnsentBytes,
    unsentGraceMs: limits.unsentGraceMs ?? 2_000,
    maxBurstBytes: limits.maxBurstBytes ?? 16 * maxUnsentBytes,
    stallMs: limits.stallMs ?? 10_000,
    closeTimeoutMs: limits.closeTimeoutMs ?? 1_000,
  };
}
