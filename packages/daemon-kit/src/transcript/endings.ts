/**
 * How a turn completes in its transcript: its open items close, and its last text, its error or its question becomes the item of
 * the result.
 */
import { randomUUID } from 'node:crypto';
import type { Item, Question as WireQuestion, TextReason } from '@relay/protocol';
import type { NewItem, Store, StoreChange, Writing } from '../store.ts';
import { type Mapper, cancelledText } from './mapper.ts';

export type TurnEnd =
  | { type: 'TASK_COMPLETE'; result: string; reason?: TextReason }
  | { type: 'ERROR'; error: string; code?: string; spent?: number; cap?: number; reason?: TextReason }
  /** `about`: the text that is shown; `before`: text in front of it for a reader without parts. */
  | { type: 'WAIT_FOR_USER'; about: string; before: string; question: WireQuestion };

/** The state of a session while its agent can still report updates about it. */
export interface Talk {
  /** The task whose turn runs, or that holds the question; '' outside of tasks. */
  taskId: string;
  mapper: Mapper;
  turn: string;
  /** `own`: the agent began the turn itself. `over`: late updates still belong to this turn. */
  phase: 'task' | 'own' | 'over';
  /** An update came after the turn. */
  late?: boolean;
  /** The disk refused a write: the rest of the turn is not kept, so that each update need not fail. */
  lost?: string;
}

/** A sentence for people, in the text of a turn and in its list. */
export const notKept = (why: string): string =>
  `Part of this turn is missing from its history, because the disk of this machine could not be written: ${why}`;

interface Endings {
  /** Writes the last text of a task, or its error, after the rest of its turn. Returns the uuid of that item. */
  conclude: (sessionId: string, talk: Talk | undefined, ending: Exclude<TurnEnd, { type: 'WAIT_FOR_USER' }>) => string;
  /** Writes the question of a task that settles with it. Returns its uuid. */
  ask: (sessionId: string, talk: Talk | undefined, ending: Extract<TurnEnd, { type: 'WAIT_FOR_USER' }>) => string;
  cancel: (sessionId: string, talk: Talk) => void;
  /** Closes all items that a turn without a task left open. Its last text is a message for every reader. */
  settle: (sessionId: string, talk: Talk) => void;
  /** Closes items that the previous process left open. Returns whether there were any. */
  recover: (sessionId: string) => boolean;
}

/** All of them throw when the disk refuses the write. */
export function createEndings({
  store,
  write,
  keepsQuestions,
}: {
  store: Store;
  write: (sessionId: string, changes: readonly StoreChange[], writing?: Writing) => void;
  /** Questions outlive this process: the next message answers. */
  keepsQuestions: boolean;
}): Endings {
  /** Closes everything of a turn that is still open. Of a turn that was not kept only the items on the disk. */
  const closing = (sessionId: string, talk: Talk, how: 'ended' | 'cancelled'): StoreChange[] => {
    if (talk.lost === undefined) return talk.mapper.close(how);
    const left = store.open(sessionId).filter(({ part }) => part.kind !== 'question');
    return [...left.map(closed), mark('notice', notKept(talk.lost), talk.turn)];
  };

  /** After the turn no answer to its questions will come. */
  const unanswered = (sessionId: string): StoreChange[] =>
    store
      .open(sessionId)
      .filter(({ part }) => part.kind === 'question')
      .map(({ uuid }) => ({ op: 'set', uuid, part: { state: 'superseded' } }));

  /** The item of the final text of a turn: the last text, or an item of its own. */
  const final = (sessionId: string, talk: Talk | undefined, result: string, reason?: TextReason): string => {
    const last = talk?.lost === undefined ? talk?.mapper.last() : undefined;
    const changes = talk === undefined ? [] : [...closing(sessionId, talk, 'ended'), ...unanswered(sessionId)];
    const shownText = last?.content.trim() ?? '';
    const at = shownText === '' ? -1 : result.lastIndexOf(shownText);
    if (last && at >= 0) {
      // Text of the daemon after the agent's text; the text before it has items of its own.
      const more = result.slice(at + shownText.length).trimEnd();
      changes.push({
        op: 'set',
        uuid: last.uuid,
        part: {},
        ...(more === '' ? {} : { content: last.content.trimEnd() + more }),
      });
      write(sessionId, changes, { sync: true, messages: [last.uuid] });
      return last.uuid;
    }
    const uuid = randomUUID();
    const turn = talk === undefined ? {} : { turn: talk.turn };
    const part = { kind: 'text', ...(reason ? { reason } : {}) };
    const item = put({ uuid, role: 'AGENT', content: result, ...turn, part });
    write(sessionId, [...changes, item], { sync: true, messages: [uuid] });
    return uuid;
  };

  const conclude = (
    sessionId: string,
    talk: Talk | undefined,
    ending: Exclude<TurnEnd, { type: 'WAIT_FOR_USER' }>,
  ): string => {
    if (ending.type === 'TASK_COMPLETE') return final(sessionId, talk, ending.result, ending.reason);
    const last = talk?.lost === undefined ? talk?.mapper.last() : undefined;
    // Some agents also report the error of their model as text: both are one item.
    const isShown = last !== undefined && isSameError(last.content, ending.error);
    const uuid = isShown ? last.uuid : randomUUID();
    const { type: _type, error: _error, ...facts } = ending;
    const part = { kind: 'error', ...facts };
    const turn = talk === undefined ? {} : { turn: talk.turn };
    const error = put({ uuid, role: 'SYSTEM', content: ending.error, ...turn, part });
    const left = talk ? closing(sessionId, talk, 'ended') : [];
    // An answer that came too late closes only itself.
    if (talk && ending.code !== 'PROMPT_SUPERSEDED') left.push(...unanswered(sessionId));
    write(sessionId, [...left, error], { sync: true });
    return uuid;
  };

  const ask = (
    sessionId: string,
    talk: Talk | undefined,
    ending: Extract<TurnEnd, { type: 'WAIT_FOR_USER' }>,
  ): string => {
    const { question, about, before } = ending;
    const part = { kind: 'question', question, state: 'open' };
    const turn = talk === undefined ? {} : { turn: talk.turn };
    // An agent that holds its question continues its tools after the answer; the turn of any other agent is over.
    const goesOn = talk?.lost === undefined && !keepsQuestions;
    const changes = talk === undefined ? [] : goesOn ? talk.mapper.closeText() : closing(sessionId, talk, 'ended');
    talk?.mapper.forget();
    // The transcript can have the question already, unchanged: it was asked beside another question.
    const isThere = store.open(sessionId).some(({ uuid }) => uuid === question.uuid);
    const item = { uuid: question.uuid, role: 'AGENT' as const, content: about, ...turn, part };
    write(sessionId, [...changes, ...(isThere ? [] : [put(item)])], {
      sync: true,
      before: before === '' ? undefined : before,
    });
    return question.uuid;
  };

  return {
    conclude,
    ask,
    cancel(sessionId, talk) {
      const changes = [
        ...closing(sessionId, talk, 'cancelled'),
        ...unanswered(sessionId),
        ...talk.mapper.mark('cancelled', cancelledText),
      ];
      write(sessionId, changes, { sync: true });
    },
    settle(sessionId, talk) {
      const last = talk.lost === undefined ? talk.mapper.last() : undefined;
      const changes = talk.lost === undefined ? talk.mapper.close('ended') : [];
      if (last && talk.phase === 'own') changes.push({ op: 'set', uuid: last.uuid, part: {} });
      write(sessionId, changes, { sync: true, messages: last && talk.phase === 'own' ? [last.uuid] : [] });
    },
    recover(sessionId) {
      const left = store.open(sessionId).filter(({ part }) => part.kind !== 'question' || !keepsQuestions);
      if (left.length === 0) return false;
      const changes = left.map((item): StoreChange => {
        const { uuid, part } = item;
        if (part.kind === 'question') return { op: 'set', uuid, part: { state: 'superseded' } };
        return closed(item);
      });
      // The closed question already explains the interruption.
      const wasAtWork = left.every(({ part }) => part.kind !== 'question');
      if (wasAtWork) changes.push(mark('interrupted', 'The daemon crashed while this was running.', left[0]?.turn));
      write(sessionId, changes, { sync: true });
      return true;
    },
  };
}

/** Closes an item that its turn left open. */
export const closed = ({ uuid, part }: Item): StoreChange => ({
  op: 'set',
  uuid,
  part: part.kind === 'tool' ? { status: 'unknown', open: null } : { open: null },
});

/** Shorter texts can be part of any error. */
const minErrorCharacters = 12;
const isSameError = (words: string, error: string): boolean => {
  const shownText = words.trim();
  return shownText.length >= minErrorCharacters && (error.includes(shownText) || shownText.includes(error.trim()));
};

const put = (item: NewItem): StoreChange => ({ op: 'put', item });

const mark = (what: string, text: string, turn: string | undefined): StoreChange =>
  put({
    uuid: randomUUID(),
    role: 'SYSTEM',
    content: text,
    ...(turn === undefined ? {} : { turn }),
    part: { kind: 'mark', what, text },
  });
