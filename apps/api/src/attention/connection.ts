/**
 * One app on `/ws/attention` (rules, chapter 11): which frames it receives and in which form, renewal and expiry of its
 * credential. The backplane (`follow`) owns order and completeness; the socket owns the reading speed.
 */
import { AuthError, type UserPrincipal } from '@relay/auth';
import { type Following, type UserFrame, type UserFrames, follow } from '@relay/backplane';
import { type CloseReason, closeCodes, decodeAppFrame } from '@relay/protocol';
import { type Socket, type TokenBucket, type TokenBucketOptions, createTokenBucket } from '@relay/socket';
import type { FrameDelivery } from './delivery.ts';
import { Expiry } from './expiry.ts';
import type { Guest } from './guest.ts';

interface AppOptions {
  backplane: UserFrames;
  principal: UserPrincipal;
  /** Present when the client understands offsets; empty for "from now on". */
  since: string | undefined;
  wantsOutput: boolean;
  wantsTranscript: boolean;
  expiryToleranceMs: number;
  /** The rate limit of its frames. */
  frameRate: TokenBucketOptions;
  prepare(frame: UserFrame): FrameDelivery | undefined;
  /** A frame that was appended at this moment is on its way. */
  delivered(appendedAtMs: number): void;
  /** How a connection began: `fresh` had nothing to resume, `full` received every missed frame, `none` had to reload. */
  resumed(outcome: 'fresh' | 'full' | 'none'): void;
  /** The app shows this session. */
  showing(sessionId: string): void;
  /** Verifies a token that replaces the first token of this connection; rejects if it is invalid. */
  verify(token: string): Promise<UserPrincipal>;
}

export class AppConnection implements Guest {
  readonly #options: AppOptions;
  #principal: UserPrincipal;
  #socket: Socket | undefined;
  #following: Following | undefined;
  readonly #expiry: Expiry;
  #gaps = 0;
  /** Made with the first frame: most apps never send one. */
  #bucket: TokenBucket | undefined;

  constructor(options: AppOptions) {
    this.#options = options;
    this.#principal = options.principal;
    this.#expiry = new Expiry(options.expiryToleranceMs, () => this.close('credential'));
  }

  /** The principal, by the newest credential. */
  get principal(): UserPrincipal {
    return this.#principal;
  }

  /** Resolves when the subscription is live: nothing that is appended from now on will be missed. */
  async subscribe(): Promise<void> {
    this.#following = await follow(this.#options.backplane, this.#principal.userId, {
      onFrame: (frame) => this.#deliver(frame),
      onGap: () => {
        this.#gaps += 1;
        if (this.#options.since !== undefined) this.#socket?.send('{"type":"resync"}');
      },
    });
  }

  /** The socket is open: sends the missed frames, then the live ones. */
  async start(socket: Socket): Promise<void> {
    this.#socket = socket;
    this.#expiry.at(this.#principal.expiresAt);
    const { since } = this.#options;
    await this.#following?.resume(since);
    this.#options.resumed(!since ? 'fresh' : this.#gaps === 0 ? 'full' : 'none');
  }

  #deliver(frame: UserFrame): void {
    const delivery = this.#inRequestedForm(this.#options.prepare(frame));
    if (!delivery) return;
    const withOffsets = this.#options.since !== undefined;
    const droppable = delivery.kind === 'p' || delivery.kind === 'o' || delivery.kind === 't';
    const isWritten = this.#socket?.send(withOffsets ? delivery.textWithOffset() : delivery.text, { droppable });
    if (isWritten && frame.appendedAtMs !== undefined) this.#options.delivered(frame.appendedAtMs);
  }

  /** The frame in the form that this app asked for; undefined when it did not ask for it. */
  #inRequestedForm(delivery: FrameDelivery | undefined): FrameDelivery | undefined {
    const { since, wantsOutput, wantsTranscript } = this.#options;
    switch (delivery?.kind) {
      case 's':
        return since === undefined ? delivery : undefined;
      case 'x':
        return since === undefined ? undefined : delivery;
      case 'o':
        return wantsOutput ? delivery : undefined;
      case 't':
        if (wantsTranscript) return delivery;
        return wantsOutput ? delivery.asOutput() : undefined;
      default:
        return delivery;
    }
  }

  /** Frames of the app: a renewal of its credential, and the session that it shows. */
  async frame(text: string): Promise<void> {
    this.#bucket ??= createTokenBucket(this.#options.frameRate);
    if (!this.#bucket.take()) return this.close('tooMany');
    const frame = decodeAppFrame(text);
    if (!frame) return;
    if (frame.type === 'focus') {
      if (frame.visible) this.#options.showing(frame.sessionId);
      return;
    }
    let principal: UserPrincipal;
    try {
      principal = await this.#options.verify(frame.token);
    } catch (error) {
      // A credential that cannot be checked is not invalid (rules, 11.2): the app should reconnect with it.
      const isUnknown = error instanceof AuthError && error.code === 'SERVICE_UNAVAILABLE';
      this.close(isUnknown ? 'overloaded' : 'credential');
      return;
    }
    if (principal.userId !== this.#principal.userId || !principal.scopes.has('sessions:read')) {
      this.close('forbidden');
      return;
    }
    this.#principal = principal;
    this.#expiry.at(principal.expiresAt);
    this.#socket?.send(JSON.stringify({ type: 'auth_ok', expiresAt: new Date(principal.expiresAt).toISOString() }));
  }

  binary(): void {
    this.close('binary');
  }

  close(reason: CloseReason): void {
    this.#socket?.close(closeCodes[reason].code, closeCodes[reason].reason);
  }

  /** The socket has closed, or never opened. */
  async ended(): Promise<void> {
    this.#expiry.stop();
    this.#socket = undefined;
    await this.#following?.stop();
  }
}
