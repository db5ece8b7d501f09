/**
 * At a real relay: conversations at every step of a turn, in one daemon. Then the agents die, the daemon dies or the
 * connection breaks under all of them at once. Every task gets an outcome, and every conversation continues.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestRelay, connectApp, registerDevice, startFaultProxy, startRelay } from '@relay/testing';
import { makePrivateFolder } from '@relay/daemon-kit';
import { writeConfig } from '../src/config.ts';
import { writeCredentials } from '../src/credentials.ts';
import { homeOf } from '../src/home.ts';
import { house } from './house.ts';
import { running } from './registered.ts';

const home = house();
let relay: TestRelay;
beforeAll(async () => {
  relay = await startRelay({ config: { boundApprovals: 'off' } });
});
afterAll(() => relay.stop());
afterEach(() => home.clear());

const patienceMs = 90_000;
interface Session {
  id: string;
  deviceId: string;
  status: string;
  lastMessage: string;
  lastTask?: { id: string; state: string };
}
const overStates = ['completed', 'failed', 'cancelled', 'waiting'];

async function begin() {
  const { deviceId, refreshToken, agentType } = await registerDevice(relay);
  const wire = await startFaultProxy({ port: Number(new URL(relay.gateways[0]!.url).port) });
  home.later(() => wire.close());
  const [folder, agentHome, calls] = [home.folder(), home.folder(), join(home.folder(), 'calls')];
  const place = homeOf({ home: folder, env: {} });
  makePrivateFolder(place.configDir);
  writeConfig(place, {
    server: `http://127.0.0.1:${wire.port}`,
    device_id: deviceId,
    hostname: 'my-host',
    name: 'Matrix',
    agent_type: agentType,
    registered_at: '2026-01-01T00:00:00.000Z',
    agent: { kind: 'acp', preset: 'demo', env: { DEMO_AGENT_HOME: agentHome, DEMO_AGENT_CALLS: calls } },
  });
  writeCredentials(place, refreshToken);
  const start = async () => {
    const program = running(home, folder);
    await program.says('connected');
    return program;
  };
  const app = await connectApp(relay, { output: true });
  home.later(() => app.close());
  const program = await start();
  const pidFile = join(place.stateDir, 'agents.json');
  const faultFile = join(agentHome, 'DEMO_AGENT_FAULT');

  const update = async (match: (session: Session) => boolean): Promise<Session> => {
    const frame = await app.next('session_update', ({ session }) => match(session as Session), patienceMs);
    return frame.session as Session;
  };
  const path = (id: string) => `/api/sessions/${encodeURIComponent(id)}`;
  return {
    app,
    wire,
    program,
    start,
    deviceId,
    pids: () => (existsSync(pidFile) ? (JSON.parse(readFileSync(pidFile, 'utf8')) as number[]) : []),
    /** From now on every new agent has this fault. */
    damage: (fault: string) => writeFileSync(faultFile, fault),
    heal: () => rmSync(faultFile, { force: true }),
    /** Waits until the agents have got this many calls in total. */
    async called(name: string, times = 1) {
      const count = () =>
        (existsSync(calls) ? readFileSync(calls, 'utf8').split('\n') : []).filter((at) => at === name);
      while (count().length < times) await new Promise((resolve) => setTimeout(resolve, 10));
    },
    async create(message: string): Promise<{ id: string; taskId: string }> {
      const { status, body } = await relay.call('POST', '/api/sessions', { body: { deviceId, message } });
      expect(status).toBe(201);
      return body as { id: string; taskId: string };
    },
    async tell(id: string, content: string): Promise<string> {
      const { status, body } = await relay.call('POST', `${path(id)}/messages`, { body: { content } });
      expect(status).toBe(202);
      return (body as { taskId: string }).taskId;
    },
    cancel: (id: string) => relay.call('POST', `${path(id)}/cancel`),
    /** The session once its task has this name. */
    named: (taskId: string) =>
      update(({ id, lastTask }) => lastTask?.id === taskId && !id.includes('PENDING')).then(({ id }) => id),
    status: (taskId: string, wanted: string) =>
      update(({ status, lastTask }) => lastTask?.id === taskId && status === wanted),
    output: (id: string) => app.next('task_output', ({ sessionId }) => sessionId === id, patienceMs),
    progress: (id: string) =>
      update((session) => session.id === id && Boolean((session as unknown as { progress?: unknown }).progress)),
    /** The session when this task is complete, also if that was published earlier. */
    async over(id: string, taskId: string): Promise<Session> {
      const { body } = await relay.call('GET', path(id));
      const session = (body.session ?? body) as Session;
      const isOver = ({ lastTask }: Session) => lastTask?.id === taskId && overStates.includes(lastTask.state);
      return isOver(session) ? session : update(isOver);
    },
    /** The relay's tasks without an outcome. */
    open: () => relay.database.models.task.count({ where: { deviceId, state: { in: ['queued', 'sent', 'running'] } } }),
  };
}
type World = Awaited<ReturnType<typeof begin>>;

interface Place {
  id: string;
  taskId: string;
}

/** How to reach each step of a turn, and its place. `fault`: the fault of the agent started for it. */
const steps: Record<string, { fault?: string; reach: (world: World, fault?: string) => Promise<Place> }> = {
  'before initialize is answered': {
    fault: 'hang-initialize',
    async reach(world) {
      const created = await world.create('hello');
      await world.called('initialize');
      return created;
    },
  },
  'while the session is opened': {
    fault: 'hang-new',
    async reach(world) {
      const created = await world.create('hello');
      await world.called('new');
      return created;
    },
  },
  'while an old session is opened again': {
    async reach(world) {
      const { taskId } = await world.create('hello');
      const id = await world.named(taskId);
      await world.over(id, taskId);
      // Its process was started last.
      process.kill(world.pids().at(-1)!, 'SIGKILL');
      await world.program.says('agent process ended');
      world.damage('hang-resume');
      const again = await world.tell(id, 'hello again');
      await world.called('resume');
      return { id, taskId: again };
    },
  },
  'when the prompt was sent': {
    async reach(world) {
      const { taskId } = await world.create('mute');
      await world.called('prompt mute');
      return { id: await world.named(taskId), taskId };
    },
  },
  'in the middle of its words': {
    async reach(world) {
      const { taskId } = await world.create('hang');
      const id = await world.named(taskId);
      await world.output(id);
      return { id, taskId };
    },
  },
  'while a tool runs': {
    async reach(world) {
      const { taskId } = await world.create('work');
      const id = await world.named(taskId);
      await world.progress(id);
      return { id, taskId };
    },
  },
  'while a permission is open': {
    async reach(world) {
      const { taskId } = await world.create('perm');
      return { id: (await world.status(taskId, 'waiting')).id, taskId };
    },
  },
  'while a form is open': {
    async reach(world) {
      const { taskId } = await world.create('ask');
      return { id: (await world.status(taskId, 'waiting')).id, taskId };
    },
  },
  'when an answer brought the next question': {
    async reach(world) {
      const { id } = await world.status((await world.create('perms')).taskId, 'waiting');
      const taskId = await world.tell(id, 'Allow');
      await world.status(taskId, 'waiting');
      return { id, taskId };
    },
  },
  'when it works on after an answer': {
    async reach(world) {
      const { id } = await world.status((await world.create('permwork')).taskId, 'waiting');
      const taskId = await world.tell(id, 'Allow');
      await world.output(id);
      return { id, taskId };
    },
  },
  'while it is cancelled': {
    async reach(world) {
      const { taskId } = await world.create('deaf');
      const id = await world.named(taskId);
      await world.output(id);
      await world.cancel(id);
      return { id, taskId };
    },
  },
  'after its end': {
    async reach(world) {
      const { taskId } = await world.create('hello');
      const id = await world.named(taskId);
      await world.over(id, taskId);
      return { id, taskId };
    },
  },
};

const faults: Record<string, (world: World) => Promise<void>> = {
  async 'the agents are killed'({ pids }) {
    for (const pid of pids()) process.kill(pid, 'SIGKILL');
    return Promise.resolve();
  },
  async 'the daemon is killed and started again'({ program, start }) {
    program.child.kill('SIGKILL');
    await program.exit;
    await start();
  },
  async 'the daemon is told to end and started again'({ program, start }) {
    program.child.kill('SIGTERM');
    await program.exit;
    await start();
  },
  async 'the wire breaks and mends'({ wire, program }) {
    wire.set('refuse');
    await program.says('disconnected');
    wire.set('pass');
    await program.says(/disconnected[^]*info connected/);
  },
};

describe('every step of a turn', () => {
  it.each(Object.keys(faults))(
    'gets an outcome when %s, and the conversation continues',
    async (fault) => {
      const world = await begin();
      const places: [step: string, place: Place][] = [];
      for (const [step, { fault: damage, reach }] of Object.entries(steps)) {
        if (damage !== undefined) world.damage(damage);
        places.push([step, await reach(world)]);
        world.heal();
      }
      await faults[fault]!(world);

      const ends: Record<string, boolean> = {};
      for (const [step, { id, taskId }] of places) {
        // A hanging agent still hangs after a connection loss; the user cancels it.
        if (fault.startsWith('the wire')) await world.cancel(id);
        ends[step] = overStates.includes((await world.over(id, taskId)).lastTask!.state);
      }
      expect(ends).toEqual(Object.fromEntries(Object.keys(steps).map((step) => [step, true])));
      expect(await world.open()).toBe(0);

      for (const [step, { id }] of places) {
        // A form accepts only valid answers; it is still open only after a connection loss.
        if (step === 'while a form is open' && fault.startsWith('the wire')) {
          await world.over(id, await world.tell(id, 'Decline'));
        }
        const { id: next, taskId } = id.includes('PENDING')
          ? await world.create('and now')
          : { id, taskId: await world.tell(id, 'and now') };
        const last = await world.over(next.includes('PENDING') ? await world.named(taskId) : next, taskId);
        expect(last.lastTask).toMatchObject({ state: 'completed' });
        expect(last.lastMessage).toMatch(/^echo \d: and now$/);
      }
      expect(await world.open()).toBe(0);
    },
    240_000,
  );
});
