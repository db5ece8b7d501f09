/** Messages to the instance that owns a device, and the replies to them. */

/** A command as its owner receives it: deliver it only to a connection with exactly this fence. */
export interface Command {
  readonly device: string;
  readonly fence: number;
  readonly body: string;
  /** Present, together with `replyTo`, when the sender waits for a reply: pass both to `reply`. */
  readonly correlation?: string;
  readonly replyTo?: string;
}

/**
 * - `sent`: the owner acknowledged the command, its bytes are with the socket
 * - `offline`: the device has no owner; nothing was sent
 * - `owner_gone`: the owner stopped listening; nothing was sent
 * - `expired`: the deadline passed before the command left; nothing was sent
 * - `refused`: the owner refused it twice; nothing reached the socket
 * - `unknown`: no confirmation came in time; the command might have arrived, or might still arrive
 */
export type RouteOutcome = 'sent' | 'offline' | 'owner_gone' | 'expired' | 'refused' | 'unknown';

export interface Commands {
  /**
   * Sends a command to the owner's `onCommand`. Commands from one instance to one device arrive in the order of the
   * calls as long as the first attempt succeeds. Retries once after 250 ms if the owner does not listen, and once
   * immediately if it refuses. `deadlineMs` (default 2000) covers all attempts. Returns `unknown` without an
   * acknowledgement by then, or when this instance closes first.
   * @throws BackplaneError OVERLOADED when too many calls wait for their acknowledgement
   */
  route(device: string, body: string, deadlineMs?: number): Promise<RouteOutcome>;

  /**
   * Routes a command and waits for its reply, at most `timeoutMs` in all.
   * @throws BackplaneError OFFLINE (no owner accepted it), TIMEOUT, CLOSED (this instance or the replying instance
   * closed), OVERLOADED (too many requests wait)
   */
  request(device: string, body: string, timeoutMs: number): Promise<string>;

  /**
   * Receives the commands of the devices this instance owns. True acknowledges: the bytes are with the socket. False and an
   * exception refuse. Called in the order of arrival, without waiting for the answer to the command before. One listener only;
   * without one every command is refused.
   */
  onCommand(listener: (command: Command) => boolean | Promise<boolean>): void;

  /** Replies to a request. Late and unknown replies are discarded silently. */
  reply(to: string, correlation: string, body: string): Promise<void>;
}
