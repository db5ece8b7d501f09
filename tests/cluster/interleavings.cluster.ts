import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Daemon, createDaemon } from '@relay/daemon-kit';
import { formatSessionId } from '@relay/protocol';
import { type Cluster, type TestApp, connectApp, registerDevice, startCluster } from '@relay/testing';
import { type Asker, createAskers } from './asker.ts';
import { createChance } from './chance.ts';
import { loadTimes } from './load.ts';
import { lasting, until } from './until.ts';

const goal = Number(process.env.INTERLEAVINGS ?? 1000);
const machines = 2;
/** The number on each machine. */
const conversations = 4;
/** The number of questions between two kills of a gateway. */
const killEvery = Number(process.env.KILL_EVERY ?? 125);
const patienceMs = 60_000;
const seed = Number(process.env.SEED ?? 20261123);

interface Shown {
  id: string;
  digest?: string;
}
interface Seen {
  id: string;
  status: string;
  prompts?: Shown[];
  lastTask?: { id: string; state: string; code?: string };
}
interface Said {
  question: string;
  api: number;
  option: string | undefined;
  words: string;
  status: number;
  code: string;
  taskId: string;
}
interface Task {
  state: string;
  code?: string;
}

/**
 * Promise: a question has one answer, from a person who saw it, during any concurrent event (rules, 5.2, 5.6 to 5.8).
 */
describe('two people who answer the same questions on two apis', () => {
  const folder = mkdtempSync(join(tmpdir(), 'relay-interleavings-'));
  const chance = createChance(seed);
  const daemons: Daemon[] = [];
  const said: Said[] = [];
  /** For each question, the apis whose app has shown it. */
  const shown = new Map<string, Map<number, Shown>>();
  const newest = new Map<string, Seen>();
  const outcomes = new Map<string, number>();
  let cluster: Cluster;
  let apps: TestApp[] = [];
  let rounds = 0;
  let kills = 0;

  const count = (outcome: string) => outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);

  beforeAll(async () => {
    cluster = await startCluster({ apis: 2, gateways: 2, haproxy: 'plain', env: loadTimes });
    apps = await Promise.all([0, 1].map((api) => connectApp(cluster, { api, since: '' })));
    for (const [api, { socket }] of apps.entries())
      socket.on('message', (data: Buffer) => {
        const frame = JSON.parse(data.toString('utf8')) as { type: string; session?: Seen };
        if (frame.type !== 'session_update' || !frame.session) return;
        newest.set(frame.session.id, frame.session);
        for (const prompt of frame.session.prompts ?? []) {
          if (!shown.has(prompt.id)) shown.set(prompt.id, new Map());
          shown.get(prompt.id)!.set(api, prompt);
        }
      });
  }, 180_000);
  afterAll(async () => {
    await Promise.all(daemons.map((daemon) => daemon.stop()));
    await Promise.all(apps.map((app) => app.close()));
    await cluster.stop();
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  /** A machine whose agents ask questions from their first turn on. */
  const begin = async (n: number) => {
    const { agent, all } = createAskers();
    const { deviceId, refreshToken, agentType } = await registerDevice(cluster);
    const daemon = createDaemon({
      server: cluster.haproxy!.url,
      deviceId,
      refreshToken,
      agentType,
      agent,
      storeDir: join(folder, `${n}`),
      daemonVersion: '1.0.0',
      timings: { initialDelayMs: 50, maxDelayMs: 500 },
    });
    daemons.push(daemon);
    daemon.start();
    await daemon.connected();
    for (let talk = 0; talk < conversations; talk += 1)
      await cluster.call('createSession', { body: { deviceId, message: `Ask me, ${talk}.` } });
    await until('the agents ask, and apps see it', () => {
      const asking = all().filter((asker) => shown.has(asker.current() ?? ''));
      return asking.length === conversations;
    });
    return all().map((asker) => ({ id: formatSessionId({ deviceId, agentType, nativeId: asker.sessionId }), asker }));
  };

  const answer = async (id: string, question: string, api: number) => {
    const { digest } = shown.get(question)!.get(api)!;
    const isWords = chance.below(10) === 0;
    const option = isWords ? undefined : ['yes', 'no'][api]!;
    const words = isWords ? `I say ${question} on ${api}` : ['Yes', 'No'][api]!;
    const bound = chance.below(2) === 0 || digest === undefined ? {} : { digest };
    const { status, body } = isWords
      ? await cluster.call('sendMessage', { api, params: { id }, body: { content: words, answers: question } })
      : await cluster.call('answerPrompt', {
          api,
          params: { id, uuid: question },
          body: { option: option!, ...bound },
        });
    const { code = '', taskId = '' } = body as { code?: string; taskId?: string };
    said.push({ question, api, option, words, status, code, taskId });
    count(status === 202 ? `accepted on api ${api}` : `${status} ${code}`);
    return status === 202;
  };

  /** Apps cannot see this question: a person sends a message, as after any unknown delivery. */
  const goOn = async (id: string, question: string) => {
    const { lastTask } = newest.get(id) ?? {};
    count(`lost sight, ${lastTask?.state} ${lastTask?.code ?? ''}`.trim());
    const answers = said.filter((one) => one.question === question);
    expect({ question, answers, code: lastTask?.code }).toEqual({ question, answers, code: 'DELIVERY_UNKNOWN' });
    await cluster.call('sendMessage', { params: { id }, body: { content: 'Go on.', answers: null } });
  };

  const isShown = (question: string, api: number) => shown.get(question)?.has(api) === true;
  const after = async (act: () => unknown) => {
    await lasting(chance.below(chance.pick([2, 12, 40, 150])));
    await act();
  };

  /** One question, from the moment that both people see it until it is answered or withdrawn. */
  const round = async (id: string, asker: Asker) => {
    const question = asker.current() ?? '';
    const isOver = () => asker.current() !== question;
    const deadline = performance.now() + patienceMs / 2;
    while (!isOver() && ![0, 1].every((api) => isShown(question, api))) {
      if (performance.now() > deadline) return goOn(id, question);
      await lasting(5);
    }
    if (isOver()) return;
    rounds += 1;
    const asksAgain = chance.below(3) === 0;
    const acts = [() => answer(id, question, 0), () => answer(id, question, 1)];
    if (asksAgain) acts.push(() => Promise.resolve(asker.askAgain(question)) as Promise<never>);
    if (rounds % killEvery === 0)
      acts.push(async () => {
        const gateway = cluster.gateways[(kills += 1) % 2]!;
        await gateway.kill();
        await gateway.start();
        return true;
      });
    await Promise.all(acts.map(after));
    const end = performance.now() + patienceMs / 2;
    while (!isOver()) {
      if (performance.now() > end) return goOn(id, question);
      await lasting(5);
    }
  };

  it(`give it one answer, and only after they saw it: ${goal} times`, async () => {
    const talks = (await Promise.all(Array.from({ length: machines }, (_, n) => begin(n)))).flat();
    await Promise.all(
      talks.map(async ({ id, asker }) => {
        while (rounds < goal) {
          await until('the agent asks', () => asker.current() !== undefined, patienceMs);
          await round(id, asker);
        }
      }),
    );
    const withdrawn = new Set(talks.flatMap(({ asker }) => [...asker.withdrawn]));
    // A text for a withdrawn question becomes a message, which waits for the next question.
    const isMessage = ({ question, option }: Said) => option === undefined && withdrawn.has(question);
    const accepted = said.filter(({ status }) => status === 202);
    const tasks = new Map<string, Task>();
    const read = async (taskId: string) => {
      const { body } = await cluster.call('readTask', { params: { id: taskId } });
      tasks.set(taskId, { state: String(body.state), ...(body.error ? { code: body.error.code } : {}) });
    };
    for (const one of accepted) {
      // An answer queued after an unknown delivery waits until the person continues (rules, 2.7).
      const unended = ['sent', 'running', ...(isMessage(one) ? [] : ['queued'])];
      await until('the answer has an end', async () => {
        await read(one.taskId);
        return !unended.includes(tasks.get(one.taskId)!.state);
      });
    }
    const given = talks.flatMap(({ asker }) => asker.given);
    const wrong: string[] = [];
    const twice = (all: readonly { question: string }[]) =>
      all.map(({ question }) => question).filter((question, n, list) => list.indexOf(question) !== n);
    wrong.push(...twice(accepted).map((question) => `${question} has two accepted answers`));
    wrong.push(...twice(given).map((question) => `${question} was answered twice at the agent`));
    for (const { question, option, words, taskId } of given) {
      const from = accepted.find((one) => one.taskId === taskId);
      if (from?.question !== question || from.option !== option || from.words !== words)
        wrong.push(`${question} got ${option ?? words} of ${JSON.stringify(from)}`);
      else if (!isShown(question, from.api)) wrong.push(`${question} was not seen on api ${from.api}`);
    }
    for (const one of accepted) {
      const { question, taskId } = one;
      const { state, code = '' } = tasks.get(taskId)!;
      const isGiven = given.some((one) => one.question === question);
      const isRefused = code === 'PROMPT_SUPERSEDED' || code === 'DELIVERY_UNKNOWN';
      if (!isGiven && !isRefused && !isMessage(one))
        wrong.push(`${JSON.stringify(one)} was accepted, and the agent got nothing: ${state}`);
      if (isGiven && code === 'PROMPT_SUPERSEDED')
        wrong.push(`${question} was answered, and the app was told it was not`);
      if (!isGiven && code === 'PROMPT_SUPERSEDED' && !withdrawn.has(question))
        wrong.push(`${question} was still open`);
    }
    process.stdout.write(
      `${rounds} questions, ${given.length} answers, ${withdrawn.size} replaced by another, ${kills} gateways killed; seed ${seed}\n` +
        `${[...outcomes].map(([outcome, times]) => `${times} × ${outcome}`).join(', ')}\n`,
    );
    expect(wrong).toEqual([]);
    expect(rounds).toBeGreaterThanOrEqual(goal);
    expect(given.length).toBeGreaterThan(goal / 2);
  }, 900_000);
});
