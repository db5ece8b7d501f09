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
 * - `sent`: the owner acknowledged it, the bytes are with the socket
 * - `offline`: the device has no owner; nothing was sent
 * - `owner_gone`: the device has an owner that no longer listens; nothing was sent
 * - `expired`: the deadline passed before the command left; nothing was sent
 * - `refused`: the owner refused it, twice; nothing reached the socket
 * - `unknown`: it left and was not confirmed in time: it may have arrived, or may still arrive
 */
export type RouteOutcome = 'sent' | 'offline' | 'owner_gone' | 'expired' | 'refused' | 'unknown';

export interface Commands {
  /**
   * Sends a command to the owner's `onCommand`. Commands from one instance to one device arrive in the order of the calls
   * as long as the first attempt succeeds. An owner that does not listen is retried once after 250 ms, one that refuses is
   * retried once at once. `deadlineMs` (default 2000) covers all of it; no acknowledgement by then is `unknown`, and so is
   * closing meanwhile.
   * @throws BackplaneError OVERLOADED when too many calls wait for their acknowledgement
   */
  route(device: string, body: string, deadlineMs?: number): Promise<RouteOutcome>;

  /**
   * Routes a command and waits for its one reply, at most `timeoutMs` in all.
   * @throws BackplaneError OFFLINE (no owner accepted it), TIMEOUT, CLOSED (this instance closed, or the one that owed the reply),
   *   OVERLOADED (too many requests wait)
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
