// Compares the model's own log of a conversation with the transcript that the relay returns: every text and every call once, in
// order, with the state and the output that the agent reported to its model (rules, 20.9).
import { isDeepStrictEqual } from 'node:util';

const timeoutMs = 90_000;
const isRefusal = /abort|reject|refus|denied|declin|not allowed|doesn.t want|permission/i;
/** How the agents report an exit code to their models. */
const exitOf = (text) => Number(/(?:exit(?:ed with)? code:?|"exit_code":|code) *(\d+)/i.exec(text)?.[1] ?? 0);

/** The state that the result of a call means. */
function stateOf({ isError, text }) {
  if (exitOf(text) > 0) return 'failed';
  if (isRefusal.test(text)) return 'rejected';
  return isError ? 'failed' : 'completed';
}

/** The agent's messages and calls in the log of the model, oldest first; of nested conversations the calls only. */
export function logOf(requests) {
  const results = new Map(requests.flatMap((one) => one.results ?? []).map((one) => [one.id, one]));
  return requests.flatMap(({ text, calls, isNested }) => [
    ...(text.trim() === '' || isNested ? [] : [{ text: text.trim() }]),
    ...calls.map(({ id, args }) => ({ id, command: args.command ?? args.cmd, result: results.get(id) })),
  ]);
}

/** The same in the transcript. */
const itemsOf = (messages) =>
  messages
    .filter(({ role, part }) => role === 'AGENT' && (part.kind === 'text' || part.kind === 'tool'))
    .map(({ content, part }) => (part.kind === 'text' ? { text: content.trim() } : part));

/** Calls of one answer start in any order. */
const inOrder = (names) => {
  const groups = [];
  for (const name of names) {
    if (name.startsWith('call') && groups.at(-1)?.[0].startsWith('call')) groups.at(-1).push(name);
    else groups.push([name]);
  }
  return groups.flatMap((group) => group.toSorted());
};
const named = (one) => (one.text === undefined ? `call ${one.id}` : `text ${JSON.stringify(one.text)}`);

/** Throws the first difference. The log lacks the daemon's texts (`own`). */
export function mustAgree(log, messages, { own, isOrdered }) {
  const items = itemsOf(messages).filter(({ text }) => text === undefined || !own.test(text));
  const [left, right] = [log.map(named), items.map(named)];
  const [one, other] = [left, right].map((names) => (isOrdered ? inOrder(names) : names.toSorted()));
  if (!isDeepStrictEqual(one, other))
    throw new Error(`the model: ${one.join(' · ')}; the transcript: ${other.join(' · ')}`);
  for (const call of log.filter(({ id }) => id !== undefined)) {
    const item = items.find(({ id }) => id === call.id);
    const about = `${call.command ?? call.id}: ${JSON.stringify(call.result)}, shown ${JSON.stringify(item)}`;
    if (call.result === undefined) throw new Error(`no result: ${about}`);
    if (item.status !== stateOf(call.result)) throw new Error(`another state: ${about}`);
    const shown = [item.command, item.input, item.title].join('\n');
    if (typeof call.command === 'string' && !shown.includes(call.command)) throw new Error(`another command: ${about}`);
    const printed = item.status === 'rejected' ? '' : (item.output ?? '').trim();
    if (!printed.split('\n').every((line) => call.result.text.includes(line.trim())))
      throw new Error(`another output: ${about}`);
    if (item.status === 'completed' && call.command?.startsWith('echo') && printed === '')
      throw new Error(`no output: ${about}`);
  }
}

/** Runs an allowed command, a failing command, two commands at once and a rejected command; Claude Code also works in the background. */
export async function agreesWithTheModel(w, { must, asking, mock }) {
  const from = mock.requests.length;
  const word = `kite${Date.now()}`;
  const settled = (id, taskId) =>
    w.update(
      id,
      ({ lastTask }) => lastTask?.id === taskId && ['completed', 'failed', 'waiting'].includes(lastTask.state),
    );
  const answer = async (id, session, kind) => settled(id, await w.answer(id, session, kind));
  const allowed = async (id, session) => {
    for (let asked = 0; session.status === 'waiting' && asked < 12; asked++)
      session = await answer(id, session, 'allow');
    must(session.status === 'idle', `${session.status}: ${session.lastMessage}`);
  };
  /** Leaves out titles, and Claude Code's guesses of the person's next message. */
  const isOfTheSession = ({ act, tools, users }) =>
    act !== 'json' &&
    tools?.length > 0 &&
    users.some((one) => one.includes(word)) &&
    !users.at(-1).includes('[SUGGESTION MODE');
  /** The adapter of Claude Code passes the calls of a subagent, and keeps its texts. */
  const isNested = ({ users }) => !users.some((one) => one.includes(`${word} one`));
  const log = () =>
    logOf(
      mock.requests
        .slice(from)
        .filter(isOfTheSession)
        .map((one) => ({ ...one, isNested: isNested(one) })),
    );

  const id = await w.begin(
    [
      asking(w.name, `echo ${word} one`),
      asking(w.name, `echo ${word} bad; exit 3`),
      '@@together 2',
      asking(w.name, `echo ${word} left`),
      asking(w.name, `echo ${word} right`),
      `@@say ${word} done`,
    ].join('\n'),
  );
  await allowed(id, await w.ended(id));
  if (!w.preset.quirks?.neverAsks) {
    const asks = await settled(id, await w.tell(id, asking(w.name, `echo ${word} > never.txt`)));
    must(asks.status === 'waiting', `${asks.status}: ${asks.lastMessage}`);
    await answer(id, asks, 'reject');
  }
  await allowed(id, await settled(id, await w.tell(id, `@@say ${word} after`)));
  const own = /^The agent stopped, because it was not allowed to continue\.$|interrupted by user/i;
  mustAgree(log(), await w.items(id), { own, isOrdered: true });
  const count = log().length;
  if (w.name !== 'claude_code') return `${count} of the model, equal`;

  const inner = [asking(w.name, `echo ${word} inside`), `@@say ${word} from the background`].join('\n');
  const input = { description: 'Look', prompt: inner, subagent_type: 'general-purpose', run_in_background: true };
  const begun = await settled(id, await w.tell(id, `@@tool Agent ${JSON.stringify(input)}\n@@say ${word} begun`));
  await allowed(id, begun);
  // The agent's own turn can ask a question.
  const until = Date.now() + timeoutMs;
  for (;;) {
    const session = await w.read(id);
    if (session.status === 'waiting') await answer(id, session, 'allow').catch(() => undefined);
    else if (
      session.status === 'idle' &&
      mock.requests.slice(from).some(({ text }) => text?.includes('from the background'))
    ) {
      try {
        mustAgree(log(), await w.items(id), { own, isOrdered: false });
        break;
      } catch (error) {
        if (Date.now() > until) throw error;
      }
    } else must(Date.now() < until, `the background work did not end: ${session.status}`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  await w.restart();
  mustAgree(log(), await w.items(id), { own, isOrdered: false });
  return `${log().length} of the model, equal, with work in the background; the same after a restart`;
}
