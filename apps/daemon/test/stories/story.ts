/**
 * Random agents with a known true story (rules, 20.9). A story is a list of turns. Each agent step is generated
 * together with its meaning, so that the truth comes from the intent and not from the code under test.
 */

type Update = Record<string, unknown>;
export type Step =
  | { do: 'update'; update: Update }
  | { do: 'ask'; call: Update; allow: boolean }
  /** The agent asks for one field, and gets this value. `said`: the same as a line. */
  | { do: 'form'; request: Update; fields: Record<string, string>; said: string }
  | { do: 'end'; how: 'end_turn' | 'cancelled' }
  /** The process of the agent exits. */
  | { do: 'die' }
  /** The user cancels. */
  | { do: 'cancel' }
  /** The daemon is killed and started again. */
  | { do: 'kill' }
  /** Time passes without any frame. */
  | { do: 'quiet' };

export interface Turn {
  message: string;
  steps: Step[];
  /** The steps after the turn, before the next message. */
  after: Step[];
}

/** An item that an app must show. */
export interface True {
  kind: string;
  content?: string;
  status?: string;
  output?: string;
  about?: string;
  answer?: string;
  /** Any text of the daemon. */
  free?: true;
}

export interface Story {
  seed: number;
  turns: Turn[];
  truth: True[];
}

/** Numbers from a seed (mulberry32). */
export function randomOf(seed: number) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  const below = (bound: number) => Math.floor(next() * bound);
  return {
    below,
    chance: (share: number) => next() < share,
    pick: <T>(list: readonly T[]): T => list[below(list.length)]!,
  };
}

/** The questions among steps, in order. */
export const questionsIn = (steps: readonly Step[]) => steps.filter((step) => step.do === 'ask' || step.do === 'form');

/** The user's answer: text, and the choice or the fields. */
export const answerTo = (question: Step | undefined) =>
  question?.do === 'form'
    ? { message: question.said, fields: question.fields }
    : question?.do === 'ask' && question.allow
      ? { message: 'Allow', option: 'yes' }
      : { message: 'Reject', option: 'no' };

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const text = (words: string) => [{ type: 'content', content: { type: 'text', text: words } }];
const update = (sessionUpdate: string, more: Update): Step => ({ do: 'update', update: { sessionUpdate, ...more } });

interface OpenCall {
  id: string;
  command: string;
  truth: True;
  lines: number;
  form: 'content' | 'shown' | 'delta';
  began: boolean;
}

export function storyOf(seed: number): Story {
  const random = randomOf(seed);
  const { below, chance, pick } = random;
  const truth: True[] = [];
  const turns: Turn[] = [];
  let serial = 0;
  const unique = (what: string) => `${what}-${seed}-${++serial}`;
  /** Ids of calls: unique, equal in each turn, or one id for all that are not open at the same time. */
  const idStyle = pick(['unique', 'per turn', 'reused'] as const);
  const named = chance(0.6);
  const foreign = chance(0.3);

  for (let count = 1 + below(3); count > 0; count--) {
    const message = unique('message');
    const steps: Step[] = [];
    const after: Step[] = [];
    const open: OpenCall[] = [];
    let callsOfTurn = 0;
    let lastWas = '';
    let plan: True | undefined;
    let usage: True | undefined;
    truth.push({ kind: 'user', content: message });

    /** Steps without effect on the message around them. */
    const noise = (into: Step[], inTurn = true) => {
      const call = open.length > 0 && chance(0.5) ? pick(open) : undefined;
      if (call && inTurn) return print(into, call);
      switch (below(4)) {
        case 0:
          return into.push(
            update('user_message_chunk', { messageId: 'echo', content: { type: 'text', text: message } }),
          );
        case 1:
          return into.push(update('available_commands_update', { availableCommands: [] }));
        case 2:
          return into.push(update('session_info_update', { title: 'A title' }));
        default: {
          if (!inTurn) return;
          const used = 100 + serial++;
          into.push(update('usage_update', { used, size: 1000 }));
          if (usage) usage.content = String(used);
          else truth.push((usage = { kind: 'usage', content: String(used) }));
        }
      }
    };
    const print = (into: Step[], call: OpenCall) => {
      const line = `${unique('line')}\n`;
      const output = (call.truth.output ?? '') + line;
      call.truth.output = output;
      call.truth.status = 'running';
      call.began = true;
      const about = { toolCallId: call.id, status: 'in_progress' };
      if (call.form === 'content') into.push(update('tool_call_update', { ...about, content: text(output) }));
      else if (call.form === 'delta')
        into.push(update('tool_call_update', { ...about, _meta: { terminal_output_delta: { data: line } } }));
      else
        into.push(
          update('tool_call_update', { ...about, _meta: { terminal_output: { terminal_id: call.id, data: line } } }),
        );
    };
    const say = (into: Step[], kind: 'agent_message_chunk' | 'agent_thought_chunk', inTurn = true) => {
      // Consecutive messages without ids are one message.
      if (!named && lastWas === kind) return;
      lastWas = kind;
      const id = named ? { messageId: unique('m') } : {};
      const item: True = { kind: kind === 'agent_message_chunk' ? 'text' : 'thought', content: '' };
      truth.push(item);
      for (let chunks = 1 + below(3), at = 0; at < chunks; at++) {
        const words = unique('words ');
        item.content += words;
        into.push(update(kind, { ...id, content: { type: 'text', text: words } }));
        if (at < chunks - 1 && chance(0.4)) noise(into, inTurn);
      }
    };
    const begin = (into: Step[], announced: boolean) => {
      lastWas = 'call';
      const command = unique('command');
      callsOfTurn += 1;
      const free = open.every(({ id }) => id !== 'call');
      const id =
        idStyle === 'unique' || (idStyle === 'reused' && !free)
          ? unique('c')
          : idStyle === 'reused'
            ? 'call'
            : `call_${callsOfTurn}`;
      const call: OpenCall = {
        id,
        command,
        truth: { kind: 'tool', content: command, status: 'pending' },
        lines: 0,
        form: pick(['content', 'shown', 'delta'] as const),
        began: false,
      };
      truth.push(call.truth);
      open.push(call);
      const described = chance(0.5) ? unique('description') : undefined;
      if (described !== undefined && announced) call.truth.about = described;
      const fields = { toolCallId: id, title: command, kind: 'execute', status: 'pending', rawInput: { command } };
      if (announced)
        into.push(update('tool_call', { ...fields, ...(described === undefined ? {} : { content: text(described) }) }));
      return { call, fields };
    };
    const ask = (into: Step[]) => {
      const isAnnounced = chance(0.7);
      const { call, fields } = begin(into, isAnnounced);
      const allow = chance(0.5);
      const id = isAnnounced && foreign ? 'permission' : call.id;
      into.push({ do: 'ask', call: { ...fields, toolCallId: id }, allow });
      truth.push({ kind: 'question', status: 'answered' }, { kind: 'user', content: allow ? 'Allow' : 'Reject' });
      lastWas = 'question';
      call.truth.answer = allow ? 'allowed' : 'rejected';
      if (allow) return finish(into, call);
      call.truth.status = 'rejected';
      // Some agents report a refused call as complete, with any text.
      if (chance(0.6)) {
        const status = pick(['failed', 'completed']);
        into.push(
          update(chance(0.8) ? 'tool_call_update' : 'tool_call', { toolCallId: call.id, title: call.command, status }),
        );
      }
      open.splice(open.indexOf(call), 1);
    };
    const form = (into: Step[]) => {
      const [title, colour] = [unique('Which colour?'), unique('colour')];
      const properties = { colour: { type: 'string', title } };
      const request = {
        message: unique('form'),
        requestedSchema: { type: 'object', properties, required: ['colour'] },
      };
      const said = `${title}: ${colour}`;
      into.push({ do: 'form', request, fields: { colour }, said });
      truth.push({ kind: 'question', status: 'answered' }, { kind: 'user', content: said });
      lastWas = 'question';
    };
    const picture = (into: Step[]) => {
      const id = named ? { messageId: unique('m') } : {};
      into.push(update('agent_message_chunk', { ...id, content: { type: 'image', mimeType: 'image/png', data: png } }));
      truth.push({ kind: 'image' });
      lastWas = 'image';
    };
    const finish = (into: Step[], call: OpenCall) => {
      if (chance(0.5)) print(into, call);
      const status = chance(0.8) ? 'completed' : 'failed';
      const content =
        call.form !== 'content'
          ? {}
          : chance(0.3)
            ? { content: [] }
            : call.truth.output === undefined
              ? {}
              : { content: text(call.truth.output) };
      if (content.content?.length === 0) delete call.truth.output;
      into.push(update('tool_call_update', { toolCallId: call.id, status, ...content }));
      call.truth.status = status;
      open.splice(open.indexOf(call), 1);
    };
    const mark = (into: Step[]) => {
      lastWas = 'mark';
      const said = unique('notice');
      into.push(update('notice', { title: said }));
      truth.push({ kind: 'mark', content: said });
    };

    for (let left = 1 + below(7); left > 0; left--) {
      const dice = below(12);
      if (dice === 10) form(steps);
      else if (dice === 11) picture(steps);
      else if (dice < 3) say(steps, 'agent_message_chunk');
      else if (dice < 4) say(steps, 'agent_thought_chunk');
      else if (dice < 6) begin(steps, true);
      else if (dice < 7) ask(steps);
      else if (dice < 8 && open.length > 0) finish(steps, pick(open));
      else if (dice < 9) mark(steps);
      else {
        const words = unique('step');
        steps.push(update('plan', { entries: [{ content: words, status: 'pending' }] }));
        if (plan) plan.content = `- ${words}`;
        else truth.push((plan = { kind: 'plan', content: `- ${words}` }));
      }
    }
    /** Sets the state of calls without a report when the turn completes. */
    const settle = (status: string) => {
      for (const call of open)
        if (call.truth.status === 'pending' || call.truth.status === 'running') call.truth.status = status;
    };
    const how = below(20);
    if (how < 13) {
      say(steps, 'agent_message_chunk');
      // A message without an id joins the previous text.
      if (lastWas !== 'agent_message_chunk') throw new Error('no last words');
      steps.push({ do: 'end', how: 'end_turn' });
      settle('unknown');
    } else if (how < 16) {
      steps.push({ do: 'cancel' });
      settle('cancelled');
      truth.push({ kind: 'mark', content: 'Cancelled.' });
    } else if (how < 18) {
      steps.push({ do: 'die' });
      settle('unknown');
      truth.push({ kind: 'error', free: true });
    } else {
      const isOpen = lastWas === 'agent_message_chunk' || lastWas === 'agent_thought_chunk' || open.length > 0;
      steps.push({ do: 'kill' });
      settle('unknown');
      if (isOpen) truth.push({ kind: 'mark', free: true });
      truth.push({ kind: 'error', free: true });
    }
    const isLive = how < 13;
    if (isLive && open.length > 0 && chance(0.5)) {
      // An update of a call after its turn.
      const call = pick(open);
      after.push(update('tool_call_update', { toolCallId: call.id, status: 'completed' }));
      call.truth.status = 'completed';
    }
    if (isLive && chance(0.4)) {
      lastWas = '';
      open.splice(0);
      callsOfTurn += 100;
      say(after, 'agent_message_chunk', false);
      if (chance(0.5)) {
        const { call } = begin(after, true);
        finish(after, call);
      }
      if (chance(0.4)) picture(after);
      if (chance(0.5)) {
        (chance(0.7) ? ask : form)(after);
        // The daemon completes the task of the answer with its own text.
        truth.push({ kind: 'text', free: true });
      }
      after.push({ do: 'quiet' });
      for (const call of open) call.truth.status = 'unknown';
    }
    turns.push({ message, steps, after });
  }
  return { seed, turns, truth };
}
