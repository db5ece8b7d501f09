/** A user frame of the backplane, ready for sockets: text is forwarded, the offset is put in without parsing, once for all sockets. */
import type { UserFrame } from '@relay/backplane';
import { cut } from '@relay/attention';
import {
  type Attention,
  type UserFrameKind,
  type TranscriptHead,
  decodeTranscript,
  decodeUserFrame,
  lastString,
  limits,
  shownText,
} from '@relay/protocol';

export interface FrameDelivery {
  kind: UserFrameKind;
  text: string;
  /** The same with the offset, for clients that asked for offsets. */
  textWithOffset(): string;
  /** The transcript's text as `task_output`, for sockets that asked only for that. Undefined without text. */
  asOutput(): FrameDelivery | undefined;
}

/**
 * Returns a function that prepares frames. The sockets of a user receive the same frame object one after another: it is prepared once,
 * and remembered until the next frame comes.
 */
export function createDeliveries(): (frame: UserFrame) => FrameDelivery | undefined {
  let newest: UserFrame | undefined;
  let prepared: FrameDelivery | undefined;
  return (frame) => {
    if (frame === newest) return prepared;
    const decoded = decodeUserFrame(frame.body);
    newest = frame;
    prepared = decoded && prepare(decoded.kind, decoded.text, frame.offset);
    return prepared;
  };
}

function prepare(kind: UserFrameKind, text: string, offset: string): FrameDelivery {
  if (kind !== 't') return new PreparedFrame(kind, text, offset);
  const { frameText, head } = decodeTranscript(text);
  return new PreparedFrame(kind, frameText, offset, () => outputOf(head(), frameText));
}

/** Below this, decoding costs nothing worth saving. */
const longFrame = 1024;
const oneAdded = /^\{"op":"add","uuid":"[^"\\]*",(?:"to":"output",)?"text":/;
const [beginning, version, operations] = ['{"type":"transcript","sessionId":', ',"v":', ',"ops":['];

/** A long frame with one added text as `task_output`, with the text as its daemon wrote it. Undefined for other frames. */
function outputAsWritten({ taskId, sequence }: TranscriptHead, frameText: string): string | undefined {
  if (frameText.length < longFrame || !frameText.startsWith(beginning) || !frameText.endsWith('"}]}')) return undefined;
  // No string of the JSON contains these with unescaped quotes.
  const [atVersion, atOperations] = [frameText.indexOf(version), frameText.indexOf(operations)];
  const operation = frameText.slice(atOperations + operations.length, -2);
  const output = atVersion > 0 && oneAdded.test(operation) ? lastString(operation, 'text') : undefined;
  if (output === undefined || output.length * 3 > limits.messageBytes) return undefined;
  const task = taskId === undefined ? '' : `,"taskId":${JSON.stringify(taskId)}`;
  const place = sequence === undefined ? '' : `,"sequence":${sequence}`;
  return `{"type":"task_output","sessionId":${frameText.slice(beginning.length, atVersion)}${task},"output":${output}${place}}`;
}

/** The one place that looks into operations. */
function outputOf(head: TranscriptHead, frameText: string): string | undefined {
  const asWritten = outputAsWritten(head, frameText);
  if (asWritten !== undefined) return asWritten;
  const { taskId, sequence } = head;
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

class PreparedFrame implements FrameDelivery {
  readonly kind: UserFrameKind;
  readonly text: string;
  readonly #offset: string;
  readonly #output: (() => string | undefined) | undefined;
  #tagged: string | undefined;
  /** Null: it shows no text. */
  #asOutput: FrameDelivery | null | undefined;

  constructor(kind: UserFrameKind, text: string, offset: string, output?: () => string | undefined) {
    this.kind = kind;
    this.text = text;
    this.#offset = offset;
    this.#output = output;
  }

  asOutput(): FrameDelivery | undefined {
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
