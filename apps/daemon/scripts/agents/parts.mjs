// One conversation with a real agent that contains every part: text, an allowed tool, an edit, a plan, a picture, a
// rejected tool, a cancelled answer, a picture sent by the person. The list must be the same live, when it is loaded,
// after a restart of the daemon, and for a daemon that knows it only from the files or the replay of the agent.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { applyOperations, mergeItems } from '@relay/protocol';

/** A red pixel. */
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==';

/** The state of one app: frames in order, and the changes where one is missing. */
export function copyOf(app, id, load) {
  let items = [];
  let v;
  return async () => {
    for (const frame of app.inbox.all.filter(({ type, sessionId }) => type === 'transcript' && sessionId === id)) {
      if (v !== undefined && frame.v <= v) continue;
      if (v === undefined || frame.v !== v + 1) {
        const page = await load(v === undefined ? '' : `&changed=${v}`);
        items = page.reset || v === undefined ? page.messages : mergeItems(items, page.messages);
        v = page.v;
      } else {
        items = applyOperations(items, frame.ops, frame.v);
        v = frame.v;
      }
    }
    return items;
  };
}

/** The kind of the option that answered a question. */
const chosen = ({ question, answer }) => question.options.find(({ id }) => id === answer?.option)?.kind;

/** Kinds that not every agent sends. */
const alsoSent = {
  claude_code: ['thought', 'plan'],
  codex: ['thought'],
  opencode: ['thought'],
  nanocoder: ['thought', 'plan'],
};
/** Kinds that only the daemon knows, or that an agent reports at another moment than it writes them. */
const own = ['question', 'usage', 'mark', 'error'];
const named = (items) => items.map(({ uuid, part }) => `${part.kind} ${uuid}`);
/** Items of the agent only: the relay and the agent give user messages different uuids. */
const theirs = (items) =>
  items.filter(({ role, part, content }) => role === 'AGENT' && !own.includes(part.kind) && content !== notAllowed);
const notAllowed = 'The agent stopped, because it was not allowed to continue.';
const shown = (items) => items.map(({ uuid, part, content }) => `${part.kind} ${uuid.slice(0, 8)} ${content.slice(0, 24).replaceAll('\n', ' ')}`); // prettier-ignore

function difference(one, other, what) {
  const [left, right] = [named(one), named(other)];
  if (left.join('\n') === right.join('\n')) return;
  const gone = one.filter((_item, index) => !right.includes(left[index]));
  const come = other.filter((_item, index) => !left.includes(right[index]));
  throw new Error(`${what}: missing ${JSON.stringify(shown(gone))}, new ${JSON.stringify(shown(come))}`);
}

/** Compares every field, not only uuids and order. */
function equal(one, other, what) {
  difference(one, other, what);
  const at = one.findIndex((item, index) => !isDeepStrictEqual(item, other[index]));
  if (at >= 0) throw new Error(`${what}: ${JSON.stringify(one[at])} is ${JSON.stringify(other[at])}`);
}

export async function sameEverywhere(w, { must, asking }) {
  writeFileSync(join(w.project, 'dot.png'), Buffer.from(png, 'base64'));
  const load = async (id, more = '') => {
    const path = `/api/sessions/${encodeURIComponent(id)}/messages?parts=1&limit=200${more}`;
    let answer;
    // A restarted agent can be slower than the relay waits; the next call has the items.
    for (let call = 0; call < 5 && answer?.status !== 200; call++) answer = await w.relay.call('GET', path);
    must(answer.status === 200, `the items were not read: ${answer.text}`);
    return answer.body;
  };
  /** The session once this task has completed or asks a question. */
  const settled = (id, taskId) =>
    w.update(
      id,
      ({ lastTask }) => lastTask?.id === taskId && ['completed', 'failed', 'waiting'].includes(lastTask.state),
    );
  const told = async (id, words, more) => settled(id, await w.tell(id, words, more));
  const answer = async (id, session, kind) => settled(id, await w.answer(id, session, kind));
  const allow = async (id, session) => {
    for (let asked = 0; session.status === 'waiting' && asked < 8; asked++)
      session = await answer(id, session, 'allow');
    return session;
  };
  const edit = w.name === 'codex' ? '@@patch new.txt hello' : `@@write ${join(w.project, 'new.txt')} hello`;
  // The picture comes last: some agents pass it to the model as user text.
  const first = ['@@think pondering', asking(w.name, 'echo one > one.txt; cat one.txt'), '@@plan look;leap', edit, `@@read ${join(w.project, 'dot.png')}`]; // prettier-ignore
  const id = await w.begin(first.join('\n'));
  const copy = copyOf(w.viewer, id, (more) => load(id, more));
  const done = await allow(id, await w.ended(id));
  must(done.status === 'idle', `${done.status}: ${done.lastMessage}`);
  const asks = await told(id, asking(w.name, 'echo two > two.txt'));
  must(asks.status === 'waiting', `${asks.status}: ${asks.lastMessage}`);
  await answer(id, asks, 'reject');
  await w.tell(id, '@@slow 600');
  await w.viewer.next(
    'transcript',
    ({ sessionId, ops }) => sessionId === id && JSON.stringify(ops).includes('w1 '),
    90_000,
  );
  must((await w.cancel(id)).status === 202, 'cancel was not accepted');
  await w.update(id, ({ lastTask }) => lastTask?.state === 'cancelled');
  const last = await told(id, '@@say all done', { images: [`data:image/png;base64,${png}`] });
  must(last.lastMessage.includes('all done'), last.lastMessage);

  const loaded = (await load(id)).messages;

  equal(await copy(), loaded, 'live and loaded');
  const kinds = new Set(loaded.map(({ part }) => part.kind));
  const expected = ['user', 'text', 'tool', 'question', 'mark', ...(alsoSent[w.name] ?? [])];
  for (const kind of expected) must(kinds.has(kind), `no ${kind}`);
  const order = loaded.map(({ part }) => part.kind).join(' ');
  must(/\btext\b.*\btool\b.*\btext\b.*\btool\b/.test(order), `no words between its tools: ${order}`);
  const answers = loaded.filter(({ part }) => part.kind === 'question').map(({ part }) => chosen(part));
  for (const kind of ['allow', 'reject'])
    must(
      answers.some((answer) => answer?.startsWith(kind)),
      `no question was answered with ${kind}: ${answers}`,
    );
  must(
    loaded.some(({ part }) => part.kind === 'mark' && part.what === 'cancelled'),
    'no mark of the cancel',
  );
  const tools = loaded.filter(({ part }) => part.kind === 'tool').map(({ part }) => part);
  must(
    tools.some(({ diffs }) => diffs?.length > 0),
    'no diff',
  );
  must(
    tools.every(({ status }) => status !== 'pending' && status !== 'running'),
    'a tool is still open',
  );
  const half = loaded.filter(({ content }) => content.startsWith('w0 w1 '));
  must(half.length === 1, `${half.length} halves of a cancelled answer`);

  await w.restart();
  equal(loaded, (await load(id)).messages, 'before and after a restart');
  const sent = loaded.findLast(({ part }) => part.kind === 'user');
  must(sent.part.images?.length === 1, 'no picture of the person');
  const content = await w.relay.call('readContent', {
    params: { id, uuid: sent.uuid, name: sent.part.images[0].data },
  });
  must(content.body.data === png, `the picture of the person: ${content.text}`);
  const missing = ['thought', 'plan', 'image'].filter((kind) => !kinds.has(kind));
  const note = missing.length === 0 ? '' : `; it told no ${missing.join(', no ')}`;
  if (w.preset.quirks?.neverReload) return `ends with its process${note}`;
  let forgotten = [];
  let hasIds = true;
  const other = await w.another();
  try {
    const read = await other.read(id);
    const there = new Set(named(read));
    // Where messages lack ids, only tool calls have the same names on both sides.
    hasIds = theirs(loaded).some((item) => item.part.kind === 'text' && there.has(named([item])[0]));
    const compared = (items) => theirs(items).filter(({ part }) => hasIds || part.kind === 'tool');
    const mine = compared(loaded);
    const known = mine.filter((item) => there.has(named([item])[0]));
    difference(known, compared(read), 'the daemon that ran it and one that reads it');
    // Items that the agent does not write to its files cannot be read; they are listed.
    forgotten = mine
      .filter((item) => !known.includes(item))
      .map(({ part, content }) => `${part.kind} “${content.slice(0, 20)}”`);
    must(read.filter(({ part }) => part.kind === 'user').length > 0, 'no words of the user');
  } finally {
    await other.stop();
  }
  const lost = forgotten.length === 0 ? '' : `; not written down: ${forgotten.join(', ')}`;
  return `${loaded.length} items${note}${lost}${hasIds ? '' : '; no ids of messages: compared by its tools'}`;
}
