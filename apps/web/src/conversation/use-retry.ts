/** Continues after the last error of a session: with the person's message again, unchanged, or past a cap on cost. */
import { useEffect, useRef } from 'react';
import type { Message, Session } from '@relay/protocol';
import type { Refusal } from '../api/refusal.ts';
import { words } from '../catalogue.ts';
import { useRooms } from '../rooms.ts';
import { type LogItem, isCapped } from '../transcript/items.ts';
import { pictures } from '../transcript/parts/shape.ts';
import { useAction } from '../ui/action.ts';
import { useSendingKey } from '../ui/sending.ts';

interface Retry {
  uuid: string;
  busy: boolean;
  run: () => void;
}

/**
 * The newest message of the person that answers no question; undefined if it is incomplete here or had images. `choices`: the labels of the
 * shown questions, for messages that do not name their question.
 */
export function wordsToRepeat(messages: readonly Message[], choices: ReadonlySet<string>): string | undefined {
  const lastMessage = messages.findLast(
    ({ role, part, content }) => role === 'USER' && part?.answers === undefined && (part || !choices.has(content)),
  );
  return lastMessage && !lastMessage.truncated && pictures(lastMessage.part).length === 0
    ? lastMessage.content
    : undefined;
}

/** `error`: the newest item, if it is one. Returns how to try again, where that helps, and why it did not work. */
export function useRetry(
  session: Session,
  messages: readonly Message[],
  error: LogItem | undefined,
  onSent: (message: Message) => void,
): [Retry | undefined, Refusal | undefined] {
  const { client } = useRooms();
  const key = useSendingKey();
  const choices = useRef<ReadonlySet<string>>(new Set());
  const { prompt, prompts = prompt ? [prompt] : [] } = session;
  useEffect(() => {
    const labels = prompts.flatMap(({ options }) => options.map(({ label }) => label));
    if (labels.length > 0) choices.current = new Set([...choices.current, ...labels]);
  });
  const uuid = error && session.status === 'failed' ? error.uuid : undefined;
  const repeated = uuid === undefined ? undefined : wordsToRepeat(messages, choices.current);
  // The agent did a part of that message.
  const content = error && isCapped(error) ? words.mark.goOn : repeated;
  const { run, busy, refusal } = useAction(async () => {
    if (uuid === undefined || content === undefined) return;
    const { message } = await client.call('sendMessage', {
      params: { id: session.id },
      body: { content },
      idempotencyKey: key.of(`${uuid} ${content}`),
    });
    key.done();
    onSent(message);
  });
  return [uuid === undefined || content === undefined ? undefined : { uuid, busy, run: () => void run() }, refusal];
}
