/**
 * A whole daemon in this process: an agent that plays a story, a relay that is a list of frames, and an app that keeps
 * items.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DaemonOptions, createDaemon } from '@relay/daemon-kit';
import { type FromDaemonFrame, type Item, type Operation, applyOperations, mergeItems } from '@relay/protocol';
import { acpAgent } from '../../src/agents/acp/agent.ts';
import { type Playing, type Update, createActor, perform, quietMs, stillClock, tick } from './actor.ts';
import { type Story, type Step, type True, answerTo, questionsIn } from './story.ts';

type Connect = NonNullable<DaemonOptions['connect']>;
type Frame = FromDaemonFrame;

/** Alters data in transit, to prove that the comparison detects it. */
export interface Fault {
  /** Steps of the agent as the daemon gets them. */
  step?: (step: Step) => Step[];
  /** Operations as the app gets them. */
  ops?: (ops: readonly Operation[]) => Operation[];
  /** Items of a page as the app gets them. */
  page?: (items: Item[]) => Item[];
}

/** In memory if the machine has such a folder. */
export const foldersOf = () => {
  const root = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'stories-'));
  return { root, remove: () => rmSync(root, { recursive: true, force: true }) };
};

/** One lifetime of a daemon: until it is killed. */
function life(
  storeDir: string,
  project: string,
  startMs: number,
  play: (process: Playing) => Promise<Update>,
  sessionId: string,
) {
  const clock = stillClock(startMs);
  const frames: Frame[] = [];
  let isDead = false;
  let receive: (text: string) => void = () => undefined;
  const actor = createActor({ play, sessionId: () => sessionId, isDead: () => isDead });
  const connect: Connect = ({ onOpen, onText, onState }) => ({
    start() {
      receive = onText;
      onState({ phase: 'connected' });
      onOpen(new Set(['transcript', 'prompts']));
    },
    send(text) {
      if (!isDead) frames.push(JSON.parse(text) as Frame);
      return !isDead;
    },
    confirm: (received) => void (isDead || received()),
    close: () => Promise.resolve(),
  });
  const agent = acpAgent({
    program: 'story',
    args: [],
    rules: { defaultPath: project },
    marker: 'story',
    clock,
    startProcess: actor.startProcess,
    timings: { quietMs },
  });
  const daemon = createDaemon({
    server: 'http://relay',
    deviceId: 'd',
    refreshToken: 't',
    agentType: 'story',
    daemonVersion: '1.0.0',
    agent,
    storeDir,
    clock,
    connect,
  });
  daemon.start();
  return {
    clock,
    frames,
    agent: actor.playing,
    send: (frame: object) => receive(JSON.stringify(frame)),
    kill: () => void (isDead = true),
  };
}

/** Items in the form of the true story. */
export const seen = (items: readonly Item[]): True[] =>
  items.map(({ content, part }) => {
    const field = (name: string, value: unknown) =>
      typeof value === 'string' && value !== '' ? { [name]: value } : {};
    const { kind } = part;
    switch (kind) {
      case 'tool': {
        const answer = (part.asked as { answer?: string } | undefined)?.answer;
        return {
          kind,
          content: String(part.command),
          ...field('status', part.status),
          ...field('output', part.output),
          ...field('about', part.about),
          ...field('answer', answer),
        };
      }
      case 'question':
        return { kind, ...field('status', part.state) };
      case 'image':
        return { kind };
      case 'usage':
        return { kind, content: String(part.used) };
      default:
        return { kind, content };
    }
  });

/** Describes the first difference, or returns undefined. */
export function difference(truth: readonly True[], shown: readonly True[]): string | undefined {
  for (let at = 0; at < Math.max(truth.length, shown.length); at++) {
    const { free, ...want } = truth[at] ?? { kind: 'nothing' };
    const is = shown[at] ?? { kind: 'nothing' };
    const same = free ? is.kind === want.kind : isSame(want, is);
    if (!same) return `item ${at}: ${JSON.stringify(is)}, in truth ${JSON.stringify(want)}`;
  }
  return undefined;
}
const isSame = (one: True, other: True) =>
  (['kind', 'content', 'status', 'output', 'about', 'answer'] as const).every((name) => one[name] === other[name]);

/**
 * Plays a story. Compares the app's view live, after a reload and after a restart with the true story. Returns the
 * first difference.
 */
export async function play(story: Story, root: string, fault: Fault = {}): Promise<string | undefined> {
  const {
    step: through = (step: Step) => [step],
    ops: sent = (ops) => [...ops],
    page: read = (items) => items,
  } = fault;
  const storeDir = join(root, `s${story.seed}`);
  const project = join(root, 'project');
  mkdirSync(project, { recursive: true });
  const sessionId = `session-${story.seed}`;
  let at = -1;
  let killed: () => void = () => undefined;
  let cancel: () => void = () => undefined;

  const run = (steps: readonly Step[], playing: Playing) =>
    perform(steps, playing, {
      sessionId,
      through,
      on: { cancel: () => cancel(), kill: () => killed(), quiet: () => daemon.clock.advance(2 * quietMs) },
    });
  const begin = (startMs: number) =>
    life(
      storeDir,
      project,
      startMs,
      async (playing) => (await run(story.turns[at]!.steps, playing)) ?? { stopReason: 'end_turn' },
      sessionId,
    );

  let daemon = begin(Date.parse('2026-01-01T00:00:00.000Z'));
  let items: Item[] = [];
  let v: number | undefined;
  let read_ = 0;
  const spoken = new Map<string, string>();
  const page = (more: object = {}) => {
    const from = daemon.frames.length;
    daemon.send({ type: 'get_messages', request_id: 'r', session_id: sessionId, limit: 200, parts: true, ...more });
    const frame = daemon.frames.slice(from).find((one) => one.type === 'messages');
    if (frame?.type !== 'messages' || frame.error) throw new Error(`no page: ${JSON.stringify(frame)}`);
    return { ...frame, messages: (frame.messages ?? []) as Item[] };
  };
  /** The app: applies frames in order, and reloads after a gap. */
  const follow = (): string | undefined => {
    for (; read_ < daemon.frames.length; read_++) {
      const frame = daemon.frames[read_]!;
      if (frame.type !== 'event') continue;
      if (frame.event_type === 'AGENT_RESPONSE' || frame.event_type === 'TASK_COMPLETE') {
        const { uuid, content } =
          frame.event_type === 'AGENT_RESPONSE'
            ? { uuid: frame.uuid ?? '', content: frame.content }
            : { uuid: frame.message_uuid ?? '', content: frame.result };
        if (spoken.has(uuid)) return `said twice: ${content}`;
        spoken.set(uuid, content);
      }
      if (frame.event_type !== 'TRANSCRIPT') continue;
      if (v !== undefined && frame.v <= v) continue;
      if (v === undefined || frame.v === v + 1) items = applyOperations(items, sent(frame.ops), frame.v);
      else items = mergeItems(items, page({ changed: v }).messages);
      v = frame.v;
    }
    return undefined;
  };

  const reply = (
    taskId: string,
    { uuid, digest }: { uuid: string; digest?: string | undefined },
    question: Step | undefined,
  ) => {
    const { option, ...answer } = { option: undefined, ...answerTo(question) };
    daemon.send({
      type: 'task_resume',
      task_id: taskId,
      session_id: sessionId,
      prompt_uuid: uuid,
      digest,
      ...(option && { option_id: option }),
      ...answer,
    });
  };
  /** Plays the steps after a turn, and answers the questions among them. */
  const runAfter = async (steps: readonly Step[], playing: Playing): Promise<void> => {
    let isOver = false;
    let from = daemon.frames.length;
    const over = run(steps, playing).then(() => void (isOver = true));
    const questions = questionsIn(steps);
    for (let rounds = 0; !isOver; rounds++) {
      if (rounds > 200) throw new Error(`seed ${story.seed}: a question between two turns is not answered`);
      for (; from < daemon.frames.length; from++) {
        const frame = daemon.frames[from]!;
        if (frame.type === 'event' && frame.event_type === 'PROMPT_OPEN')
          reply(`own${at}-${rounds}`, frame.question, questions.shift());
      }
      await tick();
    }
    await over;
  };
  const ended = async (taskId: string): Promise<void> => {
    for (let from = 0, rounds = 0; ; rounds++) {
      for (; from < daemon.frames.length; from++) {
        const frame = daemon.frames[from]!;
        if (frame.type !== 'event' || !('task_id' in frame) || frame.task_id !== taskId) continue;
        if (frame.event_type === 'TASK_COMPLETE' || frame.event_type === 'ERROR') return;
        if (frame.event_type !== 'WAIT_FOR_USER') continue;
        const next = `${taskId}+`;
        reply(next, frame.question!, questionsIn(story.turns[at]!.steps)[answered++]);
        return ended(next);
      }
      if (isCancelled || isKilled) return;
      if (rounds > 200) throw new Error(`seed ${story.seed}: ${taskId} does not end`);
      await tick();
    }
  };
  let answered = 0;
  let isCancelled = false;
  let isKilled = false;

  for (const [index, turn] of story.turns.entries()) {
    at = index;
    answered = 0;
    isCancelled = isKilled = false;
    let running = '';
    cancel = () => {
      isCancelled = true;
    };
    killed = () => {
      isKilled = true;
    };
    const taskId = `t${index}`;
    running = taskId;
    daemon.send(
      index === 0
        ? { type: 'task_start', task_id: taskId, instruction: turn.message }
        : { type: 'task_resume', task_id: taskId, session_id: sessionId, message: turn.message },
    );
    await ended(taskId);
    if (isCancelled) {
      running = `${taskId}${'+'.repeat(answered)}`;
      daemon.send({ type: 'task_cancel', task_id: running });
      await tick();
    }
    if (isKilled) {
      daemon.kill();
      const problem = follow();
      if (problem !== undefined) return `live, ${problem}`;
      daemon = begin(daemon.clock.now() + 60_000);
      read_ = 0;
      items = mergeItems(items, page(v === undefined ? {} : { changed: v }).messages);
      v = page({ changed: 0 }).v ?? v;
      spoken.clear();
    }
    await tick();
    daemon.clock.advance(100);
    const playing = daemon.agent();
    if (playing) await runAfter(turn.after, playing);
    await tick();
    // A turn with an answer completes after a quiet period.
    daemon.clock.advance(2 * quietMs);
    const problem = follow();
    if (problem !== undefined) return `live, ${problem}`;
  }
  const reloaded = read(page().messages);
  const live = difference(story.truth, seen(items));
  if (live !== undefined) return `live, ${live}`;
  const after = difference(story.truth, seen(reloaded));
  if (after !== undefined) return `reloaded, ${after}`;
  if (JSON.stringify(items.map(({ uuid }) => uuid)) !== JSON.stringify(reloaded.map(({ uuid }) => uuid)))
    return 'live and reloaded, other uuids';
  const contents = new Map(reloaded.map(({ uuid, content }) => [uuid, content]));
  for (const [uuid, content] of spoken)
    if (contents.get(uuid) !== content) return `said "${content}", and the item is "${contents.get(uuid)}"`;
  daemon.kill();
  daemon = begin(daemon.clock.now() + 60_000);
  const restarted = difference(story.truth, seen(page().messages));
  if (restarted !== undefined) return `restarted, ${restarted}`;
  rmSync(storeDir, { recursive: true, force: true });
  return undefined;
}
