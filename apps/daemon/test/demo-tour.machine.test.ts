/** The demonstration as a person without an agent meets it: it introduces itself, and shows the chosen feature. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { readdirSync } from 'node:fs';
import { demoAgent } from './demo-agent.ts';
import { house } from './house.ts';

const home = house();
afterEach(() => home.clear());

const begin = async () => {
  const relay = await home.relay({ declares: ['transcript', 'prompts'] });
  const { agent, defaultPath } = demoAgent(home, { env: { DEMO_AGENT_HOME: '', HOME: home.folder() } });
  const daemon = home.daemon(relay, agent);
  const connection = await relay.connection();
  await daemon.connected();
  connection.send({ type: 'task_start', task_id: 't1', instruction: 'Hello there' });
  const hello = await connection.event('WAIT_FOR_USER', 't1');
  const sessionId = hello.session_id ?? '';
  let last = 1;
  const say = (message: string) => {
    last += 1;
    connection.send({ type: 'task_resume', task_id: `t${last}`, session_id: sessionId, message });
    return `t${last}`;
  };
  type Asking = typeof hello;
  /** Answers like the relay: bound to the question. */
  const choose = ({ question }: Asking, label: string) => {
    last += 1;
    const option = question?.options?.find((one) => one.label === label);
    const bound = { prompt_uuid: question?.uuid, option_id: option?.id, digest: question?.digest };
    connection.send({ type: 'task_resume', task_id: `t${last}`, session_id: sessionId, message: label, ...bound });
    return `t${last}`;
  };
  const parts = async () => {
    connection.send({ type: 'get_messages', request_id: 'r', session_id: sessionId, limit: 100, parts: true });
    return ((await connection.frame('messages')).messages ?? []).map(
      ({ part }) => part as { kind: string; [name: string]: unknown },
    );
  };
  return { connection, hello, say, choose, parts, defaultPath };
};

describe('the demonstration', () => {
  it('introduces itself in sentences, and offers its features as choices', async () => {
    const { connection, hello, choose, parts } = await begin();
    expect(hello.prompt).toBe('What should I show you?');
    expect(hello.options?.map(({ label }) => label)).toEqual([
      'Ask for permission',
      'Show a diff',
      'Long task',
      'Fail',
      'Decline',
    ]);
    const [, first] = await parts();
    expect(first).toMatchObject({ kind: 'text' });
    const task = choose(hello, 'Decline');
    expect((await connection.event('TASK_COMPLETE', task)).result).toContain('Write anything to see more.');
  });

  it('asks for a permission, and continues with the answer', async () => {
    const { connection, hello, say, choose } = await begin();
    const asking = await connection.event('WAIT_FOR_USER', choose(hello, 'Ask for permission'));
    expect(asking.options?.map(({ label }) => label)).toEqual(['Allow once', 'Reject']);
    const { result } = await connection.event('TASK_COMPLETE', choose(asking, 'Allow once'));
    expect(result).toContain('No test really ran.');
    const again = await connection.event('WAIT_FOR_USER', say('and now?'));
    expect(again.prompt).toBe('What should I show you?');
    const second = await connection.event('WAIT_FOR_USER', choose(again, 'Ask for permission'));
    expect((await connection.event('TASK_COMPLETE', choose(second, 'Reject'))).result).toContain('I’ll leave it.');
  });

  it('shows a diff of a file that does not exist, and a failure, and touches nothing', async () => {
    const { connection, say, parts, defaultPath } = await begin();
    await connection.event('TASK_COMPLETE', say('show a diff'));
    const edit = (await parts()).find(({ kind, does }) => kind === 'tool' && does === 'edit');
    expect(edit?.diffs).toMatchObject([{ path: expect.stringContaining('greeting.ts'), added: 3, removed: 2 }]);
    await connection.event('WAIT_FOR_USER', say('more'));
    expect((await connection.event('ERROR', say('Fail'))).error).toContain('because you asked for a failure');
    expect(readdirSync(defaultPath)).toEqual([]);
  });

  it('works for a while with a plan, and stops on cancel', async () => {
    const { connection, say, parts } = await begin();
    const task = say('Long task');
    await connection.event('PROGRESS', task);
    connection.send({ type: 'task_cancel', task_id: task });
    await connection.status();
    const ofTask = async () => {
      const shown = await parts();
      return shown.slice(shown.findLastIndex(({ kind }) => kind === 'user'));
    };
    let shown = await ofTask();
    // The daemon reports its status before the agent has stopped, and the agent can announce one more call.
    while (!shown.some(({ what }) => what === 'cancelled')) shown = await ofTask();
    expect(shown.find(({ kind }) => kind === 'plan')).toMatchObject({ entries: { length: 4 } });
    expect(shown.filter(({ status }) => status === 'completed')).toEqual([]);
  });
});
