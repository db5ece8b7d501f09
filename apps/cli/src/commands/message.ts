/** The text of a message from the command line or standard input, and the options of commands that send messages. */
import { randomUUID } from 'node:crypto';
import { type DeskChoice, deskChoices, limits } from '@relay/protocol';
import type { Terminal } from '@relay/machine';
import { usage, readInput } from '../failure.ts';
import type { ChoiceOptions } from './choices.ts';
import type { ImageOptions } from './images.ts';
import type { FileOptions } from './sent-files.ts';
import type { ReadingOptions } from './messages.ts';
import type { TimeOptions } from './at-time.ts';

export interface SendingOptions extends ReadingOptions, ImageOptions, FileOptions, ChoiceOptions, TimeOptions {
  watch?: boolean;
  output?: boolean;
  /** False with `--no-queue`. */
  queue: boolean;
  ttl?: string;
  key?: string;
  desk?: string;
}

/** Returns the choice about a terminal that has the session open. */
export function deskChoiceOf({ desk }: SendingOptions): { desk?: DeskChoice } {
  const choice = deskChoices.find((name) => name === desk);
  if (desk !== undefined && choice === undefined) throw usage(`--desk must be one of ${deskChoices.join(', ')}.`);
  return choice === undefined ? {} : { desk: choice };
}

/** Reads standard input for `-`, or if the message is absent and input is piped. Strips one trailing newline. */
export async function messageOf(typed: string | undefined, terminal: Terminal): Promise<string> {
  if (typed === undefined && terminal.inIsScreen) throw usage('Give a message, or "-" to read it from standard input.');
  const isPiped = typed === undefined || typed === '-';
  const text = isPiped ? (await readInput(terminal, limits.messageBytes + 2)).replace(/\r?\n$/, '') : typed;
  if (text.trim() === '') throw usage('The message is empty.');
  if (Buffer.byteLength(text) > limits.messageBytes) {
    throw usage(`The message is ${Buffer.byteLength(text)} bytes long; the limit is ${limits.messageBytes}.`);
  }
  return text;
}

/** Returns how long the relay may keep the message for an offline device. */
export function queueing({ queue, ttl }: SendingOptions): { queueTtlSeconds?: number } {
  if (!queue) {
    if (ttl !== undefined) throw usage('--no-queue and --ttl cannot be used together.');
    return { queueTtlSeconds: 0 };
  }
  if (ttl === undefined) return {};
  if (!/^\d+$/.test(ttl) || Number(ttl) > limits.queueTtlSeconds) {
    throw usage(`--ttl must be a number of seconds up to ${limits.queueTtlSeconds}.`);
  }
  return { queueTtlSeconds: Number(ttl) };
}

/** Returns one key per message, kept over retries; `--key` keeps it over several runs. */
export function idempotencyKeyOf({ key }: SendingOptions): string {
  if (key === undefined) return randomUUID();
  if (!/^[\x21-\x7e]+$/.test(key) || key.length > limits.idempotencyKeyCharacters) {
    throw usage(`--key must have 1 to ${limits.idempotencyKeyCharacters} printable characters without spaces.`);
  }
  return key;
}
