/** Checks of daemons that declare images, usage, transcripts, questions or settings. */
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type Item, applyOperations, isItem, isOperation, mergeItems } from '@relay/protocol';
import { type DaemonCheck, ask, begin, conversation, declares, id, must, page, same, resume } from './check.ts';
import type { DoubleConnection } from './relay-double.ts';

/** The list of a reader that applied every frame; undefined when a version is missing, which the reader would request. */
function itemsOf({ frames }: DoubleConnection, session: string): Item[] | undefined {
  let items: Item[] = [];
  let version: number | undefined;
  for (const frame of frames) {
    if (frame.type !== 'event' || frame.event_type !== 'TRANSCRIPT' || frame.session_id !== session) continue;
    must(version === undefined || frame.v > version, 'the version of a session rises with each frame');
    must(frame.ops.every(isOperation), 'a frame holds operations');
    if (version !== undefined && frame.v !== version + 1) return undefined;
    version = frame.v;
    items = applyOperations(items, frame.ops, frame.v);
  }
  return items;
}
/** One pixel. */
const pixel =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=';

export const abilityChecks: readonly DaemonCheck[] = [
  {
    name: 'ends a task with images once, whether it accepts them or not',
    rule: '§9',
    async run({ connection }) {
      const taskId = id('task');
      connection.send({ type: 'task_start', task_id: taskId, instruction: 'hello', images: [pixel] });
      await connection.status(taskId);
      await connection.status();
      await connection.settle();
      must(connection.ends(taskId).length === 1, 'the task has one end');
    },
  },
  {
    name: 'answers usage_request if it declares usage, and ignores it otherwise',
    rule: '§9',
    async run({ connection }) {
      const declared = String(connection.headers['x-daemon-capabilities'] ?? '').split(/[\s,]+/);
      const session = await conversation(connection);
      for (const sessionId of [session, id('nobody')]) {
        const requestId = id('request');
        connection.send({ type: 'usage_request', request_id: requestId, session_id: sessionId });
        if (!declared.includes('usage')) continue;
        const answer = await connection.frame('usage_response');
        must(answer.request_id === requestId, 'the answer echoes request_id');
        must(Boolean(answer.usage) !== Boolean(answer.error), 'the answer has a usage or an error');
      }
      await connection.settle();
    },
  },
  {
    name: 'answers spending_request if it declares spending',
    rule: '22.3',
    async run({ connection }) {
      if (!declares(connection, 'spending')) return;
      await conversation(connection);
      const requestId = id('request');
      const range = { from: '2020-01-01', to: '2099-12-31', zone: 'UTC' };
      connection.send({ type: 'spending_request', request_id: requestId, ...range });
      const answer = await connection.frame('spending_response');
      must(answer.request_id === requestId, 'the answer echoes request_id');
      must(Boolean(answer.days) !== Boolean(answer.error), 'the answer has days or an error');
    },
  },
  {
    name: 'with `transcript`, sends operations that build its pages, and keeps the uuid that the relay gave a message',
    rule: 'ADR 35',
    declares: ['transcript'],
    async run({ connection }) {
      if (!declares(connection, 'transcript')) return;
      const [taskId, uuid] = [id('task'), randomUUID()];
      connection.send({ type: 'task_start', task_id: taskId, instruction: 'hello', message_uuid: uuid });
      const { session_id: session, message_uuid: last } = await connection.event('TASK_COMPLETE', taskId);
      const answer = await page(connection, session ?? '', { limit: 200, parts: true });
      const items = (answer.messages ?? []) as unknown[];
      must(items.every(isItem), 'a page of parts holds items');
      must(items[0]?.uuid === uuid, 'the message has the uuid that the relay gave it');
      must(items.at(-1)?.uuid === last, 'the end names its item');
      const shownItems = itemsOf(connection, session ?? '');
      must(
        shownItems === undefined || isDeepStrictEqual(shownItems, items),
        'the operations make the items of the page',
      );
      const again = await page(connection, session ?? '', { limit: 200, parts: true, changed: answer.v });
      must(again.v === answer.v && again.messages?.length === 0, 'nothing changed since the current version');
    },
  },
  {
    name: 'with `prompts`, applies no choice to a question that it does not name',
    rule: 'ADR 35',
    declares: ['transcript', 'prompts'],
    async run({ connection }) {
      if (!declares(connection, 'prompts')) return;
      const taskId = begin(connection, 'ask');
      const { session_id: session, question } = await connection.event('WAIT_FOR_USER', taskId);
      must(question !== undefined && question !== null, 'WAIT_FOR_USER names its question');
      const [wrong, right] = [id('task'), id('task')];
      const answer = {
        type: 'task_resume',
        session_id: session,
        message: 'yes',
        option_id: question.options[0]?.id ?? '1',
      };
      connection.send({ ...answer, task_id: wrong, prompt_uuid: randomUUID() });
      const { code } = await connection.event('ERROR', wrong);
      must(code === 'PROMPT_SUPERSEDED', 'a choice for another question is refused as such');
      const { option_id: _choice, ...words } = answer;
      const named = question.options.length > 0 ? answer : words;
      connection.send({ ...named, task_id: right, prompt_uuid: question.uuid, digest: question.digest });
      await connection.event('TASK_COMPLETE', right);
    },
  },
  {
    name: 'with `transcript`, answers `changed` with what changed, and starts over for a version that it never had',
    rule: 'ADR 35',
    declares: ['transcript'],
    async run({ connection }) {
      if (!declares(connection, 'transcript')) return;
      const session = await conversation(connection);
      const { v, messages: before } = await page(connection, session, { limit: 200, parts: true });
      await connection.event('TASK_COMPLETE', resume(connection, session, 'and again'));
      const later = await page(connection, session, { limit: 200, parts: true, changed: v });
      const whole = await page(connection, session, { limit: 200, parts: true });
      must(later.reset !== true, 'a version that it had is known');
      const stored = (before ?? []) as unknown as Item[];
      const merged = mergeItems(stored, (later.messages ?? []) as unknown as Item[]);
      must(isDeepStrictEqual(merged, whole.messages), 'the known items and the changes are the whole list');
      const foreign = await page(connection, session, { limit: 200, parts: true, changed: 1 });
      must(foreign.reset === true, 'a version that it never had is answered with the newest page, and reset');
      must(isDeepStrictEqual(foreign.messages, whole.messages), 'the newest page is the list');
    },
  },
  {
    name: 'with `prompts`, lists a question while it is open, and its item says how it ended',
    rule: 'ADR 35',
    declares: ['transcript', 'prompts'],
    async run({ connection }) {
      if (!declares(connection, 'prompts')) return;
      const taskId = begin(connection, 'ask');
      const { session_id: session, question } = await connection.event('WAIT_FOR_USER', taskId);
      must(question !== undefined && question !== null, 'WAIT_FOR_USER names its question');
      must(same((await connection.status()).open_prompts, [question.uuid]), '`status` lists the open question');
      const stateOf = async () => {
        const { messages } = await page(connection, session ?? '', { limit: 200, parts: true });
        return messages?.find(({ uuid }) => uuid === question.uuid)?.part?.state;
      };
      must((await stateOf()) === 'open', 'the question is an item with its uuid, and open');
      const answerId = id('task');
      const answer = { type: 'task_resume', task_id: answerId, session_id: session, message: 'yes' };
      const [option] = question.options;
      connection.send({ ...answer, prompt_uuid: question.uuid, ...(option ? { option_id: option.id } : {}) });
      await connection.event('TASK_COMPLETE', answerId);
      must(same((await connection.status()).open_prompts, []), '`status` lists no question afterwards');
      must((await stateOf()) === 'answered', 'the item of the question is answered');
    },
  },
  {
    name: 'with `prompts`, closes a question that is dismissed: it is listed no longer, and its item is superseded',
    rule: 'rules, 2.10, 5.8',
    declares: ['transcript', 'prompts'],
    async run({ connection }) {
      if (!declares(connection, 'prompts')) return;
      const taskId = begin(connection, 'ask');
      const { session_id: session, question } = await connection.event('WAIT_FOR_USER', taskId);
      must(question !== undefined && question !== null, 'WAIT_FOR_USER names its question');
      await connection.status();
      connection.send({ type: 'task_cancel', task_id: taskId });
      must(same((await connection.status()).open_prompts, []), '`status` lists no question afterwards');
      const { messages } = await page(connection, session ?? '', { limit: 200, parts: true });
      const item = messages?.find(({ uuid }) => uuid === question.uuid);
      must(item?.part?.state === 'superseded', 'the item of the question is superseded');
      const late = id('task');
      const answer = { type: 'task_resume', task_id: late, session_id: session, message: 'yes', option_id: '1' };
      connection.send({ ...answer, prompt_uuid: question.uuid });
      const { code } = await connection.event('ERROR', late);
      must(code === 'PROMPT_SUPERSEDED', 'a late choice is refused as such');
    },
  },
  {
    name: 'with `steer`, reports one outcome for a message into a turn, also after a repetition, and `not_running` after the turn',
    rule: 'rules, 23.2, 23.3',
    declares: ['transcript', 'prompts', 'steer'],
    async run({ connection }) {
      if (!declares(connection, 'steer')) return;
      const taskId = begin(connection, 'hang');
      const { session_id: session } = await connection.event('SESSION_STARTED', taskId);
      const steer = () => {
        const about = { task_id: id('steer'), into: taskId, session_id: session };
        return { type: 'task_steer', ...about, message: 'and water it', message_uuid: randomUUID() };
      };
      const outcomesOf = (steerId: string) =>
        connection.frames.flatMap((frame) =>
          frame.type === 'event' && frame.event_type === 'STEERED' && frame.task_id === steerId ? [frame.outcome] : [],
        );
      const during = steer();
      connection.send(during);
      const { outcome } = await connection.event('STEERED', during.task_id);
      must(outcome === 'injected' || outcome === 'refused', 'the outcome during the turn is injected or refused');
      connection.send(during);
      await connection.settle();
      must(new Set(outcomesOf(during.task_id)).size === 1, 'a repetition changes no outcome');
      connection.send({ type: 'task_cancel', task_id: taskId });
      await connection.status();
      const late = steer();
      connection.send(late);
      const after = await connection.event('STEERED', late.task_id);
      must(after.outcome === 'not_running', 'the outcome after the turn is not_running');
    },
  },
  {
    name: 'with `content`, sends the image of a message by the name in its item, in pieces, and no other content',
    rule: 'rules, 10.16',
    declares: ['transcript'],
    async run({ connection }) {
      if (!declares(connection, 'content')) return;
      const taskId = id('task');
      const images = declares(connection, 'images') ? { images: [pixel] } : {};
      const uuid = randomUUID();
      connection.send({ type: 'task_start', task_id: taskId, instruction: 'hello', message_uuid: uuid, ...images });
      const { session_id: session } = await connection.event('TASK_COMPLETE', taskId);
      const { messages } = await page(connection, session ?? '', { limit: 200, parts: true });
      const read = (uuid: string, name: string, offset: number, limit: number) => {
        const request = { type: 'content_request', session_id: session, uuid, name, offset, limit };
        return ask(connection, request, 'content_response');
      };
      const [user] = messages ?? [];
      const none = await read(user?.uuid ?? id('item'), id('none'), 0, 100);
      must(none.code === 'CONTENT_NOT_FOUND' && !none.data, 'a content that it does not have is refused as such');
      const [image] = (user?.part?.images ?? []) as { data?: string }[];
      if (!declares(connection, 'images')) return;
      must(typeof image?.data === 'string' && image.data !== '', 'the item names the image');
      const bytes = Buffer.from(pixel.slice(pixel.indexOf(',') + 1), 'base64');
      for (const [offset, limit] of [
        [0, 40],
        [40, 1000],
        [bytes.length, 10],
      ] as const) {
        const { size, data } = await read(user?.uuid ?? '', image.data, offset, limit);
        must(size === bytes.length, 'each piece has the size of the whole');
        const wanted = bytes.subarray(offset, offset + limit).toString('base64');
        must(data === wanted, 'a piece has the bytes from its offset on, and none behind the end');
      }
    },
  },
  {
    name: 'answers get_folders if it declares browse: folders with their paths, and none for a path that there is not',
    rule: 'rules, 6.26',
    async run({ connection }) {
      if (!declares(connection, 'browse')) return;
      const browse = (path: string) => ask(connection, { type: 'get_folders', path }, 'folders');
      const none = await browse(`/none-${randomUUID()}`);
      must(none.code === 'FOLDER_NOT_FOUND' && !none.folders, 'a folder that there is not is refused as such');
      const top = await browse('');
      must(Array.isArray(top.folders), 'the top has folders');
      const [first] = top.folders ?? [];
      if (first) must((await browse(first.path)).path === first.path, 'a folder that it named can be asked for');
    },
  },
  {
    name: 'answers settings_request if it declares settings: each with its current value, and no other value is accepted',
    rule: 'rules, 10.13',
    async run({ connection }) {
      if (!declares(connection, 'settings')) return;
      const session = await conversation(connection);
      const settingsOf = (sessionId: string, change?: { id: string; value: string }) => {
        const request = { type: 'settings_request', session_id: sessionId, ...(change ? { change } : {}) };
        return ask(connection, request, 'settings_response');
      };
      must(Boolean((await settingsOf(id('nobody'))).error), 'a session that it does not know has an error');
      const { settings, code } = await settingsOf(session);
      if (!settings) {
        must(code === 'SETTINGS_NOT_SUPPORTED', 'an agent without settings is refused as such');
        return;
      }
      for (const { value, options } of settings)
        must(options.length === 0 || options.some((option) => option.id === value), 'a value is one of its options');
      const [first] = settings;
      const wrong = await settingsOf(session, { id: first?.id ?? '', value: `none-${randomUUID()}` });
      must(wrong.code === 'INVALID_SETTING' && !wrong.settings, 'a value that there is not is refused as such');
      const missing = await settingsOf(session, { id: `none-${randomUUID()}`, value: first?.value ?? '' });
      must(missing.code === 'INVALID_SETTING', 'a setting that there is not is refused as such');
      const other = first?.options.find((option) => option.id !== first.value);
      if (!first || !other) return;
      const changed = await settingsOf(session, { id: first.id, value: other.id });
      const now = changed.settings?.find((setting) => setting.id === first.id)?.value;
      must(now === other.id, 'a change is in the answer to it');
    },
  },
];
