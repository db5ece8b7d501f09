/** A whole daemon in this process at a real relay, and an app on its socket and REST (rules, 20.9). */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type DaemonOptions, createDaemon } from '@relay/daemon-kit';
import { type Item, type Operation, applyOperations, mergeItems } from '@relay/protocol';
import { type Frame, type Registration, type TestApp, type TestRelay, connectApp, startRelay } from '@relay/testing';
import { WebSocket } from 'ws';
import { acpAgent } from '../../src/agents/acp/agent.ts';
import { type Playing, type Update, createActor, perform, quietMs, stillClock, tick } from './actor.ts';
import { type Fault, difference, seen } from './stage.ts';
import { type Step, type Story, answerTo, questionsIn } from './story.ts';

type Connect = NonNullable<DaemonOptions['connect']>;
interface Session {
  id: string;
  status: string;
  lastTask?: { id: string; state: string };
  prompts?: { id: string; digest?: string }[];
}
interface Shown {
  uuid: string;
  role: string;
  content: string;
}
const sessionIn = ({ session }: Frame) => session as Session;

/** A socket to the relay that a kill cuts without a close frame. */
function cable(url: () => string) {
  let isDead = false;
  let socket: WebSocket | undefined;
  let open: () => Promise<void> = () => Promise.resolve();
  const connect: Connect = ({ headers, onOpen, onText, onState }) => {
    open = () =>
      new Promise<void>((resolve, reject) => {
        const current = new WebSocket(new URL('/ws/daemon', url().replace('http', 'ws')), { headers: { ...headers } });
        let declared = '';
        socket = current;
        current.on('upgrade', (response) => (declared = String(response.headers['x-relay-capabilities'] ?? '')));
        current.on('error', reject);
        current.on('message', (data: Buffer) => void (isDead || onText(data.toString('utf8'))));
        current.on('open', () => {
          onState({ phase: 'connected' });
          onOpen(new Set(declared.split(',').map((name) => name.trim())));
          // A relay answers after every earlier frame.
          current.once('pong', () => resolve());
          current.ping('open');
        });
      });
    return {
      start: () => undefined,
      send(text) {
        const isOpen = !isDead && socket?.readyState === WebSocket.OPEN;
        if (isOpen) socket?.send(text);
        return isOpen;
      },
      confirm(received) {
        const current = socket;
        if (isDead || current?.readyState !== WebSocket.OPEN) return;
        const mark = `${Math.random()}`;
        const heard = (data: Buffer) => {
          if (data.toString('utf8') !== mark || isDead) return;
          current.off('pong', heard);
          received();
        };
        current.on('pong', heard);
        current.ping(mark);
      },
      close: () => Promise.resolve(socket?.terminate()),
    };
  };
  return {
    connect,
    open: () => open(),
    isDead: () => isDead,
    kill() {
      isDead = true;
      socket?.terminate();
    },
  };
}

/** The items of a session in an app: it applies frames in order, and reloads after a gap. */
class Copy {
  items: Item[] = [];
  v: number | undefined;
  readonly #ops: (ops: readonly Operation[]) => Operation[];
  #read = 0;

  constructor(ops: (ops: readonly Operation[]) => Operation[]) {
    this.#ops = ops;
  }

  async follow(app: TestApp, isMine: (id: unknown) => boolean, ask: (changed: number) => Promise<Page>): Promise<void> {
    for (; this.#read < app.inbox.all.length; this.#read++) {
      const frame = app.inbox.all[this.#read]! as Frame & { v: number; ops: Operation[] };
      if (frame.type !== 'transcript' || !isMine(frame.sessionId)) continue;
      if (this.v !== undefined && frame.v <= this.v) continue;
      if (this.v === undefined || frame.v === this.v + 1)
        this.items = applyOperations(this.items, this.#ops(frame.ops), frame.v);
      else {
        const page = await ask(this.v);
        this.items = mergeItems(this.items, page.messages);
        this.v = page.v;
      }
      this.v = Math.max(frame.v, this.v ?? 0);
    }
  }
}
interface Page {
  messages: Item[];
  v: number;
}

export interface RelayStage {
  /** Plays a story. Returns the first difference in the live view. */
  play(story: Story, fault?: Fault): Promise<string | undefined>;
  /** Compares the played stories with a reload; returns the differences. */
  compare(when: string, fault?: Fault): Promise<string[]>;
  /** Kills the daemon and starts it again. */
  restartDaemon(): Promise<void>;
  /** Kills the relay's only process and starts it again. */
  restartRelay(): Promise<void>;
  close(): Promise<void>;
}

export async function openRelayStage(root: string, register: (relay: TestRelay) => Promise<Registration>) {
  const first = await startRelay();
  let relay = first;
  let app = await connectApp(relay, { transcript: true });
  const registration = await register(relay);
  const project = join(root, 'project');
  mkdirSync(project, { recursive: true });
  let story: Story;
  let at = 0;
  let fault: Fault = {};
  const nativeId = () => `session-${story.seed}`;
  let stop: { cancel: () => void; kill: () => void } = { cancel: () => undefined, kill: () => undefined };
  const played = new Map<Story, { id: string; items: Item[] }>();

  const run = (steps: Story['turns'][number]['steps'], playing: Playing): Promise<Update | undefined> =>
    perform(steps, playing, {
      sessionId: nativeId(),
      through: fault.step ?? ((step) => [step]),
      on: { ...stop, quiet: () => daemon.clock.advance(2 * quietMs) },
    });

  const life = async (startMs: number) => {
    const clock = stillClock(startMs);
    const line = cable(() => relay.gateways[0]!.url);
    const actor = createActor({
      sessionId: nativeId,
      isDead: line.isDead,
      play: async (playing) => (await run(story.turns[at]!.steps, playing)) ?? { stopReason: 'end_turn' },
    });
    const daemon = createDaemon({
      server: relay.gateways[0]!.url,
      ...registration,
      daemonVersion: '1.0.0',
      agent: acpAgent({
        program: 'story',
        args: [],
        rules: { defaultPath: project },
        marker: 'story',
        clock,
        startProcess: actor.startProcess,
        timings: { quietMs },
      }),
      storeDir: join(root, 'store'),
      clock,
      connect: line.connect,
    });
    daemon.start();
    await line.open();
    return { clock, line, playing: actor.playing };
  };
  let daemon = await life(Date.now());

  const restartDaemon = async () => {
    daemon.line.kill();
    daemon = await life(daemon.clock.now() + 60_000);
  };

  const pageOf = async (id: string, changed?: number): Promise<Page> => {
    const query = { parts: '1', limit: 200, changed };
    const { status, body } = await relay.call('readMessages', { params: { id }, query });
    if (status !== 200) throw new Error(`no page: ${JSON.stringify(body)}`);
    return body as unknown as Page;
  };

  /** Answers a question. Returns the task of the answer and the question's uuid. */
  const reply = async ({ id, prompts }: Session, question: Step | undefined) => {
    const { id: uuid, digest } = prompts![0]!;
    const { message: _, ...answer } = answerTo(question);
    const body = { ...answer, ...(digest && { digest }) };
    const { status, body: answered } = await relay.call('answerPrompt', { params: { id, uuid }, body });
    if (status !== 202) throw new Error(`not answered: ${JSON.stringify(answered)}`);
    return { taskId: (answered as { taskId: string }).taskId, uuid };
  };

  const ended = async (taskId: string, isStopped: () => boolean, stopped: Promise<void>, questions: Step[]) => {
    for (let current = taskId; ;) {
      const isEnd = (frame: Frame) => {
        const { lastTask } = sessionIn(frame);
        return lastTask?.id === current && ['waiting', 'completed', 'failed'].includes(lastTask.state);
      };
      const frame = await Promise.race([app.next('session_update', isEnd), stopped]);
      if (!frame || isStopped()) return current;
      const session = sessionIn(frame);
      if (session.lastTask?.state !== 'waiting') return current;
      current = (await reply(session, questions.shift())).taskId;
    }
  };

  const play: RelayStage['play'] = async (next, faulty = {}) => {
    story = next;
    fault = faulty;
    const copy = new Copy(fault.ops ?? ((ops) => [...ops]));
    let id = '';
    let pending = '';
    const isMine = (one: unknown) => one === pending || String(one).endsWith(`:${nativeId()}`);
    const catchUp = async () => {
      daemon.clock.advance(300);
      const { v } = await pageOf(id);
      await copy.follow(app, isMine, (changed) => pageOf(id, changed));
      while ((copy.v ?? 0) < v) {
        const isNew = (frame: Frame) => isMine(frame.sessionId) && Number(frame.v) > (copy.v ?? 0);
        await app.next('transcript', isNew, 10_000);
        await copy.follow(app, isMine, (changed) => pageOf(id, changed));
      }
    };
    for (const [index, turn] of story.turns.entries()) {
      at = index;
      let how: 'cancel' | 'kill' | undefined;
      const stopped = new Promise<void>((resolve) => {
        const by = (what: 'cancel' | 'kill') => () => {
          how = what;
          resolve();
        };
        stop = { cancel: by('cancel'), kill: by('kill') };
      });
      const { message } = turn;
      const { status, body } =
        index === 0
          ? await relay.call('createSession', { body: { deviceId: registration.deviceId, message } })
          : await relay.call('sendMessage', { params: { id }, body: { content: message } });
      if (status !== 201 && status !== 202) throw new Error(`not sent: ${JSON.stringify(body)}`);
      const { taskId } = body as { taskId: string };
      if (index === 0) {
        pending = (body as object as { id: string }).id;
        const isNamed = (frame: Frame) => isMine(sessionIn(frame).id) && sessionIn(frame).id !== pending;
        ({ id } = sessionIn(await app.next('session_update', isNamed)));
      }
      const last = await ended(taskId, () => how !== undefined, stopped, questionsIn(turn.steps));
      const isOver = (state: string) => (frame: Frame) => {
        const { lastTask } = sessionIn(frame);
        return lastTask?.id === last && lastTask.state === state;
      };
      if (how === 'cancel') {
        await relay.call('cancelSession', { params: { id }, body: {} });
        await app.next('session_update', isOver('cancelled'));
        // The daemon reads this request after the cancel, from the same socket.
        await pageOf(id);
      }
      if (how === 'kill') {
        await restartDaemon();
        await app.next('session_update', isOver('failed'));
      }
      await tick();
      await catchUp();
      const playing = daemon.playing();
      const answerAll = async () => {
        let answered = '';
        for (const question of questionsIn(turn.after)) {
          const isAsked = (frame: Frame) => {
            const { id: sessionId, prompts = [] } = sessionIn(frame);
            return isMine(sessionId) && prompts.length > 0 && prompts[0]!.id !== answered;
          };
          answered = (await reply(sessionIn(await app.next('session_update', isAsked)), question)).uuid;
        }
      };
      if (playing) await Promise.all([run(turn.after, playing), answerAll()]);
      await tick();
      // A turn with an answer completes after a quiet period.
      daemon.clock.advance(2 * quietMs);
      await catchUp();
    }
    played.set(story, { id, items: copy.items });
    const live = difference(story.truth, seen(copy.items));
    if (live !== undefined) return `live, ${live}`;
    return messagesOf(app, isMine, copy.items);
  };

  return {
    play,
    restartDaemon,
    async compare(when, { page: read = (items) => items }: Fault = {}) {
      const differences: string[] = [];
      for (const [{ seed, truth }, { id, items }] of played) {
        const reloaded = read((await pageOf(id)).messages);
        const uuids = (list: readonly Item[]) => JSON.stringify(list.map(({ uuid }) => uuid));
        const problem =
          difference(truth, seen(reloaded)) ?? (uuids(items) === uuids(reloaded) ? undefined : 'other uuids than live');
        if (problem !== undefined) differences.push(`seed ${seed}: ${when}, ${problem}`);
      }
      return differences;
    },
    async restartRelay() {
      await relay.gateways[0]!.kill();
      await app.close();
      if (relay !== first) await relay.stop();
      relay = await startRelay({ database: first.database, issuer: first.issuer });
      app = await connectApp(relay, { transcript: true });
      await daemon.line.open();
    },
    async close() {
      daemon.line.kill();
      await app.close();
      if (relay !== first) await relay.stop();
      await first.stop();
    },
  } satisfies RelayStage;
}

/** Checks the messages that apps without items got: each once, with the text of its item. */
function messagesOf(app: TestApp, isMine: (id: unknown) => boolean, items: readonly Item[]): string | undefined {
  const contents = new Map(items.map(({ uuid, content }) => [uuid, content]));
  const shown = new Set<string>();
  for (const frame of app.inbox.all) {
    if (frame.type !== 'new_message' || !isMine(frame.sessionId)) continue;
    const { uuid, content } = frame.message as Shown;
    if (shown.has(uuid)) return `message twice: ${content}`;
    shown.add(uuid);
    if (contents.get(uuid) !== content) return `message "${content}", and the item is "${contents.get(uuid)}"`;
  }
  return undefined;
}
