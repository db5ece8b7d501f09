/** A user frame of the backplane, ready for sockets: text is forwarded, the offset is put in without parsing, once for all sockets. */
import type { UserFrame } from '@relay/backplane';
import { cut } from '@relay/attention';
import {
  type Attention,
  type UserFrameKind,
  type TranscriptHead,
  decodeTranscript,
  decodeUserFrame,
  shownText,
} from '@relay/protocol';

export interface Delivery {
  kind: UserFrameKind;
  text: string;
  /** The same with the offset, for clients that asked for offsets. */
  textWithOffset(): string;
  /** The text that a transcript shows, as `task_output`, for sockets that asked for that alone. Undefined when it shows none. */
  asOutput(): Delivery | undefined;
}

/**
 * Returns a function that prepares frames. The sockets of a user receive the same frame object one after another: it is prepared once,
 * and remembered until the next frame comes.
 */
export function createDeliveries(): (frame: UserFrame) => Delivery | undefined {
  let newest: UserFrame | undefined;
  let prepared: Delivery | undefined;
  return (frame) => {
    if (frame === newest) return prepared;
    const decoded = decodeUserFrame(frame.body);
    newest = frame;
    prepared = decoded && prepare(decoded.kind, decoded.text, frame.offset);
    return prepared;
  };
}

function prepare(kind: UserFrameKind, text: string, offset: string): Delivery {
  if (kind !== 't') return new PreparedFrame(kind, text, offset);
  const { frameText, head } = decodeTranscript(text);
  return new PreparedFrame(kind, frameText, offset, () => outputOf(head(), frameText));
}

/** The one place that looks into operations. */
function outputOf({ taskId, sequence }: TranscriptHead, frameText: string): string | undefined {
  const { sessionId, ops } = JSON.parse(frameText) as Attention<'transcript'>;
  const shown = shownText(ops);
  if (shown === '') return undefined;
  const output: Attention<'task_output'> = {
    type: 'task_output',
    sessionId,
    ...(taskId === undefined ? {} : { taskId }),
    output: cut(shown).content,
    ...(sequence === undefined ? {} : { sequence }),
  };
  return JSON.stringify(output);
}

class PreparedFrame implements Delivery {
  readonly kind: UserFrameKind;
  readonly text: string;
  readonly #offset: string;
  readonly #output: (() => string | undefined) | undefined;
  #tagged: string | undefined;
  /** Null: it shows no text. */
  #asOutput: Delivery | null | undefined;

  constructor(kind: UserFrameKind, text: string, offset: string, output?: () => string | undefined) {
    this.kind = kind;
    this.text = text;
    this.#offset = offset;
    this.#output = output;
  }

  asOutput(): Delivery | undefined {
    if (this.#asOutput === undefined) {
      const text = this.#output?.();
      this.#asOutput = text === undefined ? null : new PreparedFrame('o', text, this.#offset);
    }
    return this.#asOutput ?? undefined;
  }

  textWithOffset(): string {
    return (this.#tagged ??= `{"offset":${JSON.stringify(this.#offset)},${this.text.slice(1)}`);
  }
}
