/** The relay towards one ACP client: calls of routes in the name of its person, and the person's frames about its device. */
import type { Relay } from '@relay/acp';
import { type UserFrames, type Following, type UserFrame, follow } from '@relay/backplane';
import { type AttentionItem, RelayError as ClientRelayError } from '@relay/client';
import { RelayError, type RouteName, decodeTranscript, decodeUserFrame } from '@relay/protocol';

/** Characters of frames that wait for a client; beyond this limit they are dropped, and the client's sessions are read again. */
const mostWaiting = 1024 * 1024;

export interface RelayOptions {
  backplane: Pick<UserFrames, 'subscribe' | 'read'>;
  userId: string;
  deviceId: string;
  /** The public address of the relay. */
  url: string;
  /** Rejects with a RelayError of the protocol. */
  call(name: RouteName, input: object): Promise<unknown>;
  /** The device was removed. */
  onRemoved(): void;
}

/** Receives nothing before it is opened, and must be closed. */
export class LocalRelay implements Relay {
  readonly #options: RelayOptions;
  #following: Following | undefined;
  #waiting: string[] = [];
  #waitingLength = 0;
  #hasGap = false;
  #wake: () => void = () => undefined;

  readonly url: string;

  constructor(options: RelayOptions) {
    this.#options = options;
    this.url = options.url;
  }

  readonly call: Relay['call'] = async (name, ...[input]) => {
    try {
      // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-assertion -- the table of routes gives each answer its type
      return (await this.#options.call(name, input ?? {})) as never;
    } catch (error) {
      throw error instanceof RelayError ? asOfClient(error) : error;
    }
  };

  /** Resolves when the client misses no event from now on. */
  async open(): Promise<void> {
    const { backplane, userId } = this.#options;
    this.#following = await follow(backplane, userId, {
      onFrame: (frame) => this.#receive(frame),
      onGap: () => this.#lose(),
    });
    await this.#following.resume();
  }

  async close(): Promise<void> {
    await this.#following?.stop();
  }

  async *attention({ signal }: { signal: AbortSignal }): AsyncGenerator<AttentionItem> {
    signal.addEventListener('abort', () => this.#wake(), { once: true });
    while (!signal.aborted) {
      if (this.#hasGap) {
        this.#hasGap = false;
        yield { type: 'resync' };
        continue;
      }
      const text = this.#waiting.shift();
      if (text === undefined) await new Promise<void>((resolve) => (this.#wake = resolve));
      else {
        this.#waitingLength -= text.length;
        yield JSON.parse(text) as AttentionItem;
      }
    }
  }

  #receive({ body }: UserFrame): void {
    const { kind, text } = decodeUserFrame(body) ?? {};
    // A client of ACP understands items and sessions.
    if (text === undefined || kind === 'o' || kind === 's' || kind === 'p') return;
    // Ids of sessions begin with their device, so that frames of others are not read.
    if (!text.includes(this.#options.deviceId)) return;
    if (text.startsWith('{"type":"device_removed"')) this.#options.onRemoved();
    const frame = kind === 't' ? decodeTranscript(text).frameText : text;
    this.#waitingLength += frame.length;
    if (this.#waitingLength > mostWaiting) return this.#lose();
    this.#waiting.push(frame);
    this.#wake();
  }

  #lose(): void {
    this.#waiting = [];
    this.#waitingLength = 0;
    this.#hasGap = true;
    this.#wake();
  }
}

function asOfClient({ code, message, status, retryAfter, body, headers }: RelayError): ClientRelayError {
  return new ClientRelayError({
    code,
    message,
    status,
    retryAfter,
    details: { ...body },
    headers: new Headers(headers),
  });
}
