/** One ACP client on `/acp/<deviceId>`: its socket, the expiry of its credential, and its agent. */
import { type Budget, serveAcp } from '@relay/acp';
import type { UserPrincipal } from '@relay/auth';
import { type CloseReason, closeCodes } from '@relay/protocol';
import { type Socket, type TokenBucket, type TokenBucketOptions, createTokenBucket } from '@relay/socket';
import { Expiry } from '../attention/expiry.ts';
import type { Guest } from '../attention/guest.ts';
import { LocalRelay, type RelayOptions } from './relay.ts';
import { SocketStream } from './stream.ts';

type Serving = Omit<Parameters<typeof serveAcp>[1], 'client' | 'onStray' | 'budget'>;

/** Answers to requests that were never sent. A client that repeats one after a reconnect sends a few. */
const mostStrays = 32;

interface AcpOptions {
  principal: UserPrincipal;
  /** The token of an ACP client, if it came with one. */
  tokenId: string | undefined;
  relay: Omit<RelayOptions, 'onRemoved'>;
  serving: Serving;
  /** The budget of the person, from the start of the connection until it is given back. */
  shareBudget: () => { budget: Budget; giveBack: () => void };
  expiryToleranceMs: number;
  /** The rate limit of its frames. */
  frameRate: TokenBucketOptions;
}

export class AcpConnection implements Guest {
  readonly principal: UserPrincipal;
  readonly tokenId: string | undefined;
  readonly deviceId: string;
  readonly #options: AcpOptions;
  readonly #relay: LocalRelay;
  readonly #expiry: Expiry;
  readonly #bucket: TokenBucket;
  #socket: Socket | undefined;
  #stream: SocketStream | undefined;
  #strays = 0;
  #served: Promise<void> = Promise.resolve();

  constructor(options: AcpOptions) {
    this.#options = options;
    this.principal = options.principal;
    this.tokenId = options.tokenId;
    this.deviceId = options.relay.deviceId;
    this.#relay = new LocalRelay({ ...options.relay, onRemoved: () => this.close('deviceDeleted') });
    this.#expiry = new Expiry(options.expiryToleranceMs, () => this.close('credential'));
    this.#bucket = createTokenBucket(options.frameRate);
  }

  subscribe(): Promise<void> {
    return this.#relay.open();
  }

  start(socket: Socket): Promise<void> {
    const { principal, serving, shareBudget } = this.#options;
    const { budget, giveBack } = shareBudget();
    this.#socket = socket;
    this.#expiry.at(principal.expiresAt);
    this.#stream = new SocketStream(socket, budget);
    this.#served = serveAcp(this.#stream, { ...serving, client: this.#relay, onStray: () => this.#stray(), budget })
      .then(
        () => this.close('normal'),
        () => this.close('internal'),
      )
      .finally(giveBack);
    return Promise.resolve();
  }

  frame(text: string): void {
    if (!this.#bucket.take()) return this.close('tooMany');
    if (this.#stream?.receive(text) === false) this.close('unexpected');
  }

  #stray(): void {
    this.#strays += 1;
    if (this.#strays > mostStrays) this.close('tooMany');
  }

  /** Ignored, as the transport of ACP has it. */
  binary(): void {
    if (!this.#bucket.take()) this.close('tooMany');
  }

  close(reason: CloseReason): void {
    this.#socket?.close(closeCodes[reason].code, closeCodes[reason].reason);
  }

  async ended(): Promise<void> {
    this.#expiry.stop();
    this.#stream?.end();
    await this.#served;
    this.#socket = undefined;
    await this.#relay.close();
  }
}
