/** `relay messages`: prints one page of a session's messages, and exits. */
import { isItem, limits } from '@relay/protocol';
import type { Terminal } from '@relay/machine';
import { usage } from '../failure.ts';
import { findSessionId, nameOf } from '../naming.ts';
import { wholeOutputs } from '../whole-output.ts';
import { createItemsView } from '../show/items.ts';
import type { CommonOptions } from './shared-options.ts';
import { contextOf, jsonLine } from './context.ts';

export interface ReadingOptions extends CommonOptions {
  thoughts?: boolean | undefined;
  full?: boolean | undefined;
}

interface MessagesOptions extends ReadingOptions {
  lines: string;
  before?: string;
}

/** @throws Failure BAD_USAGE */
export function linesOf(typed: string): number {
  const lines = Number(typed);
  if (/^\d+$/.test(typed) && lines <= limits.historyPage) return lines;
  throw usage(`-n must be a number from 0 to ${limits.historyPage}.`);
}

/** With --json, prints one item per line as the daemon sent it, or messages if the daemon keeps no items. */
export async function messagesCommand(typed: string, options: MessagesOptions, terminal: Terminal): Promise<void> {
  const limit = linesOf(options.lines);
  if (limit === 0) throw usage(`-n must be a number from 1 to ${limits.historyPage}.`);
  const { relay, json, style } = contextOf(options, terminal);
  const id = await findSessionId(relay, typed);
  const { before, thoughts = false, full = false } = options;
  const { messages, hasMore, oldestUuid } = await relay.call('readMessages', {
    params: { id },
    query: { parts: '1', limit, ...(before === undefined ? {} : { before }) },
  });
  const columns = terminal.outIsScreen ? terminal.columns : Infinity;
  const view = createItemsView({ style, columns, thoughts, full });
  const whole = wholeOutputs(relay, id);
  for (const message of messages) {
    if (json) terminal.out(jsonLine(message));
    else terminal.out(isItem(message) ? view.item(full ? await whole(message) : message) : view.message(message));
    await terminal.drained();
  }
  terminal.out(view.interrupt());
  if (hasMore && oldestUuid !== null && !json)
    terminal.err(`Older messages: relay messages ${nameOf(id)} --before ${oldestUuid}\n`);
}
