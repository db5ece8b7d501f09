/** Open questions on their way to the relay: each is sent until it is received, and again when a connection was lost with it. */
import type { DaemonEvent } from '@relay/protocol';
import type { FinalEvent } from './journal.ts';

type PromptOpenEvent = DaemonEvent<'PROMPT_OPEN'>;

interface PromptSender {
  /** Sends a question, also if the relay has received it before. */
  repeat: (event: PromptOpenEvent) => void;
  /** After `status`: sends the questions that the relay has not received. */
  again: () => void;
  /** The relay has received these results, and the questions they carry. */
  settled: (ends: readonly FinalEvent[]) => void;
}

export function createAsking({
  open,
  send,
}: {
  /** The open questions. */
  open: () => readonly PromptOpenEvent[];
  /** Sends a question if the relay takes it; calls back when the relay has received it. */
  send: (event: PromptOpenEvent, received: () => void) => void;
}): PromptSender {
  /** Uuids of the open questions that the relay has received. */
  const received = new Set<string>();
  const ask = (event: PromptOpenEvent) => send(event, () => received.add(event.question.uuid));
  return {
    repeat(event) {
      received.delete(event.question.uuid);
      ask(event);
    },
    again() {
      const questions = open();
      const uuids = new Set(questions.map(({ question }) => question.uuid));
      for (const uuid of received) if (!uuids.has(uuid)) received.delete(uuid);
      for (const event of questions) if (!received.has(event.question.uuid)) ask(event);
    },
    settled(ends) {
      for (const end of ends) if (end.event_type === 'WAIT_FOR_USER' && end.question) received.add(end.question.uuid);
    },
  };
}
