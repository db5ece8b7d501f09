/**
 * Terminals open and close at every moment of a message: the agent never writes while a terminal has the session, and
 * gets each message at most once.
 */
import { afterEach, expect, it } from '@jest/globals';
import type { Held } from '@relay/protocol';
import type { Agent } from '../src/index.ts';
import { house } from './house.ts';

const home = house();
afterEach(() => home.clear());

const held = (sure: boolean): Held => ({
  state: 'idle',
  program: 'Claude Code',
  since: '2026-11-28T08:52:11.000Z',
  at: '2026-11-28T09:04:02.000Z',
  sure,
  ends: sure,
});

/** Numbers from 0 to 1, determined by the seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

const seeds = Array.from({ length: Number(process.env.DESK_SEEDS ?? 2) }, (_, index) => index + 1);

it.each(seeds)('44: two programs never write one session, in 100 interleavings of seed %d', async (seed) => {
  const random = randomOf(seed);
  const open = new Map<string, Held>();
  const written: string[] = [];
  let wrong = 0;
  /** A terminal opens or closes, or nothing happens. */
  const stir = (sessionId: string) => {
    if (random() < 0.3) open.set(sessionId, held(true));
    else if (random() < 0.4) open.delete(sessionId);
  };
  const agent: Agent = {
    holdsQuestions: true,
    holders: {
      look: () => new Map(open),
      of: (sessionId) => open.get(sessionId),
      async end(sessionId) {
        await new Promise(setImmediate);
        open.delete(sessionId);
        return { result: 'released' };
      },
      command: () => undefined,
    },
    start({ sessionId, message }, report) {
      if (open.has(sessionId)) wrong++;
      const work = async () => {
        // The agent opens the session, which takes a while.
        for (let step = 0; step < 3; step++) {
          await new Promise(setImmediate);
          if (message !== 'begin') stir(sessionId);
        }
        if (open.has(sessionId)) return report.held?.();
        written.push(message);
        report.complete('done');
      };
      return { ended: work(), cancel: () => Promise.resolve() };
    },
  };
  const relay = await home.relay({ declares: ['transcript', 'prompts', 'desk'] });
  home.daemon(relay, agent, { timings: { deskIntervalMs: 1 } });
  const connection = await relay.connection();
  connection.send({ type: 'task_start', task_id: 't0', instruction: 'begin' });
  const { session_id: sessionId } = await connection.event('TASK_COMPLETE', 't0');
  const id = sessionId!;
  let tasks = 0;
  const send = (message: string, more: object = {}) => {
    const taskId = `t${++tasks}`;
    connection.send({ type: 'task_resume', task_id: taskId, session_id: id, message, ...more });
    return taskId;
  };
  const ends = (taskId: string) =>
    connection.frames.find(
      (frame) =>
        frame.type === 'event' &&
        frame.task_id === taskId &&
        ['TASK_COMPLETE', 'WAIT_FOR_USER', 'ERROR'].includes(frame.event_type),
    );
  const kept: string[] = [];
  for (let round = 0; round < 100; round++) {
    const message = `m${round}`;
    stir(id);
    const choice = ([undefined, 'take', 'wait'] as const)[Math.floor(random() * 3)];
    let taskId = send(message, choice ? { desk: choice } : {});
    for (;;) {
      let end = ends(taskId);
      while (!end) {
        await new Promise(setImmediate);
        if (random() < 0.05) open.delete(id);
        end = ends(taskId);
      }
      if (end.type !== 'event' || end.event_type !== 'WAIT_FOR_USER') break;
      const question = end.question!;
      const option = question.options[Math.floor(random() * 3)]!;
      if (option.id === 'drop') kept.push(message);
      taskId = send(option.label, { prompt_uuid: question.uuid, option_id: option.id, digest: question.digest });
    }
  }
  expect(wrong).toBe(0);
  expect(new Set(written).size).toBe(written.length);
  expect([...written.slice(1), ...kept].sort()).toEqual(Array.from({ length: 100 }, (_, round) => `m${round}`).sort());
});
