/** Questions of Claude Code in a terminal, asked in apps through its hook: the real program `relay-daemon hook` beside a double of the terminal. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, silentLog, systemClock } from '@relay/daemon-kit';
import { agentOf } from '../src/agents/choice.ts';
import { requireConfig, writeConfig } from '../src/config.ts';
import { homeOf } from '../src/home.ts';
import { demoAgentFile } from './demo-agent.ts';
import { house } from './house.ts';
import { type Program, startProgram } from './program.ts';
import { registered } from './registered.ts';
import { terminals, until } from './terminals.ts';

const home = house();
const desk = terminals();
const hooks: Program[] = [];
afterEach(async () => {
  for (const { child } of hooks.splice(0)) child.kill('SIGKILL');
  await home.clear();
  desk.close();
});

/** Between two looks of the door at the record of a program. */
const lookMs = 1000;
const text = 'rm -r "build folder"';
const requestOf = (folder: string, more: object = {}) => ({
  session_id: 's1',
  hook_event_name: 'PermissionRequest',
  cwd: folder,
  tool_name: 'Bash',
  tool_input: { command: text, description: 'Clean up' },
  ...more,
});
const decisionIn = (out: string) =>
  (JSON.parse(out) as { hookSpecificOutput: { decision: object } }).hookSpecificOutput.decision;

/** A home with a session of Claude Code that a terminal has open. */
async function claudeHome() {
  const root = home.folder();
  const [folder, project] = [join(root, '.claude'), join(root, 'project')];
  const row = { type: 'user', uuid: 'u1', cwd: project, timestamp: new Date().toISOString() };
  mkdirSync(join(folder, 'projects/-project'), { recursive: true });
  mkdirSync(project);
  writeFileSync(
    join(folder, 'projects/-project/s1.jsonl'),
    `${JSON.stringify({ ...row, message: { role: 'user', content: 'Clean up' } })}\n`,
  );
  const terminal = await desk.open({ folder, sessionId: 's1', status: 'waiting' });
  const choice = {
    kind: 'acp',
    preset: 'claude_code',
    program: process.execPath,
    args: [demoAgentFile],
    env: { HOME: root, CLAUDE_CONFIG_DIR: folder, DEMO_AGENT_HOME: root },
  } as const;
  return { root, folder, project, terminal, choice: { ...choice, args: [...choice.args] } };
}

/** A session of Claude Code that a terminal has open, and a daemon on the same home. */
async function scene({ allowed = true, place = {} }: { allowed?: boolean; place?: object } = {}) {
  const { root, project, terminal, choice } = await claudeHome();
  const [stateDir, elsewhere] = [home.folder(), home.folder()];
  const shared = allowed ? root : elsewhere;
  const answering = agentOf(choice, {
    rules: { defaultPath: shared, allowed: [shared] },
    stateDir: join(stateDir, 'state'),
    log: silentLog,
    ...place,
  });
  mkdirSync(join(stateDir, 'state'), { recursive: true });
  const relay = await home.relay({ declares: ['transcript', 'prompts', 'desk'] });
  const daemon = home.daemon(relay, answering.agent, {
    ...(answering.outside ? { outside: answering.outside } : {}),
    storeDir: join(stateDir, 'state'),
  });
  const connection = await relay.connection();
  const hook = (request: object, env: NodeJS.ProcessEnv = {}) => {
    const program = startProgram(['hook', 'claude', '--home', stateDir], env);
    hooks.push(program);
    program.child.stdin.end(JSON.stringify(request, undefined, 2));
    return program;
  };
  return { connection, daemon, hook, project, terminal };
}

/** Opens the question of a hook, and returns it. */
async function asked(place: Awaited<ReturnType<typeof scene>>) {
  const hook = place.hook(requestOf(place.project));
  const { question, task_id: taskId } = await place.connection.event('PROMPT_OPEN', '');
  expect(taskId).toBe('');
  return { hook, question };
}

describe('a question of Claude Code in a terminal', () => {
  it('44, desk 19: is asked in apps with its command, and an app allows it', async () => {
    const place = await scene();
    const { hook, question } = await asked(place);
    expect(question).toMatchObject({
      kind: 'permission',
      person: true,
      options: [
        { id: 'allow', label: 'Allow once', kind: 'allow_once' },
        { id: 'reject', label: 'Reject', kind: 'reject_once' },
      ],
      subject: { type: 'command', command: text },
    });
    place.connection.send({
      ...{ type: 'task_resume', task_id: 't1', session_id: 's1', message: 'Allow once' },
      ...{ prompt_uuid: question.uuid, option_id: 'allow', digest: question.digest },
    });
    const { result } = await place.connection.event('TASK_COMPLETE', 't1');
    expect(result).toBe('The terminal has your answer.');
    expect(await hook.exit).toMatchObject({ code: 0 });
    expect(decisionIn(hook.out())).toEqual({ behavior: 'allow' });
  });

  it('44, desk 19: is rejected with a text of a person', async () => {
    const place = await scene();
    const { hook, question } = await asked(place);
    place.connection.send({
      ...{ type: 'task_resume', task_id: 't1', session_id: 's1', message: 'Keep the folder, empty it.' },
      ...{ prompt_uuid: question.uuid },
    });
    await place.connection.event('TASK_COMPLETE', 't1');
    await hook.exit;
    expect(decisionIn(hook.out())).toEqual({ behavior: 'deny', message: 'Keep the folder, empty it.' });
  });

  it('44, desk 19: closes when its person answers in the terminal, and a late answer of an app reaches nothing', async () => {
    let looks = 0;
    const after: Clock['after'] = (ms, act) => {
      if (ms === lookMs) looks += 1;
      return systemClock.after(ms, act);
    };
    const place = await scene({ place: { clock: { ...systemClock, after } } });
    const { hook, question } = await asked(place);
    const record = JSON.parse(readFileSync(place.terminal.record, 'utf8')) as object;
    // The door has seen the record of this question.
    await until(() => (looks > 1 ? true : undefined));
    // The next question of the turn: the record waits as before, with a later time.
    writeFileSync(place.terminal.record, JSON.stringify({ ...record, statusUpdatedAt: Date.now() + 1000 }));
    expect(await place.connection.event('PROMPT_CLOSED', '')).toMatchObject({
      uuid: question.uuid,
      state: 'superseded',
    });
    expect(await hook.exit).toMatchObject({ code: 0 });
    expect(hook.out()).toBe('');
    place.connection.send({
      ...{ type: 'task_resume', task_id: 't1', session_id: 's1', message: 'Allow once' },
      ...{ prompt_uuid: question.uuid, option_id: 'allow' },
    });
    expect(await place.connection.event('ERROR', 't1')).toMatchObject({ code: 'PROMPT_SUPERSEDED' });
  });

  it('44, desk 19: a second question of the session replaces the first, whose hook exits without a decision', async () => {
    const place = await scene();
    const first = await asked(place);
    const second = place.hook(requestOf(place.project, { tool_input: { command: 'ls' } }));
    expect(await place.connection.event('PROMPT_CLOSED', '')).toMatchObject({ uuid: first.question.uuid });
    await first.hook.exit;
    expect(first.hook.out()).toBe('');
    expect(second.child.exitCode).toBeNull();
  });

  it('44, desk 19: stays in the terminal when the daemon stops: the hook exits without a decision', async () => {
    const place = await scene();
    const { hook } = await asked(place);
    await place.daemon.stop();
    expect(await hook.exit).toMatchObject({ code: 0 });
    expect(hook.out()).toBe('');
  });

  it('44, desk 19: stays in the terminal when the daemon is killed: the hook exits without a decision', async () => {
    const { root, project, choice } = await claudeHome();
    const relay = await home.relay({ declares: ['transcript', 'prompts', 'desk'] });
    const stateDir = registered(home, relay);
    const place = homeOf({ home: stateDir, env: {} });
    writeConfig(place, { ...requireConfig(place), agent: choice, allow: [root], project: root });
    const daemon = startProgram(['run', '--home', stateDir]);
    hooks.push(daemon);
    const connection = await relay.connection();
    const hook = startProgram(['hook', 'claude', '--home', stateDir]);
    hooks.push(hook);
    hook.child.stdin.end(JSON.stringify(requestOf(project)));
    await connection.event('PROMPT_OPEN', '');
    daemon.child.kill('SIGKILL');
    expect(await hook.exit).toMatchObject({ code: 0 });
    expect(hook.out()).toBe('');
  });

  it('44, desk 19: closes in apps when the terminal stops the hook', async () => {
    const place = await scene();
    const { hook, question } = await asked(place);
    hook.child.kill('SIGTERM');
    expect(await place.connection.event('PROMPT_CLOSED', '')).toMatchObject({ uuid: question.uuid });
  });

  it('44, desk 19: an agent cannot answer it', async () => {
    const place = await scene();
    const { hook, question } = await asked(place);
    place.connection.send({
      ...{ type: 'task_resume', task_id: 't1', session_id: 's1', message: 'Allow once', restricted: 'agent' },
      ...{ prompt_uuid: question.uuid, option_id: 'allow' },
    });
    expect(await place.connection.event('ERROR', 't1')).toMatchObject({ code: 'PERSON_MUST_ANSWER' });
    expect(hook.child.exitCode).toBeNull();
  });
});

describe('a hook without a question in apps', () => {
  const silent = async (hook: Program) => {
    expect(await hook.exit).toMatchObject({ code: 0 });
    expect(hook.out() + hook.err()).toBe('');
  };

  it('44, desk 19: exits without output for a folder that is not shared, and with --desk off or --ask-at-desk', async () => {
    for (const options of [
      { allowed: false },
      { place: { desk: 'off' } },
      { place: { askAtDesk: () => Promise.resolve(undefined) } },
    ]) {
      const { hook, project } = await scene(options);
      await silent(hook(requestOf(project)));
    }
  });

  it('44, desk 19: exits without output for another session, an agent of the daemon, a question with choices, and no JSON', async () => {
    const { hook, project, terminal } = await scene();
    await silent(hook(requestOf(project, { session_id: 's2' })));
    await silent(hook(requestOf(project), { RELAY_DAEMON_AGENT: 'mine' }));
    await silent(hook(requestOf(project, { tool_name: 'AskUserQuestion' })));
    const broken = startProgram(['hook', 'claude', '--home', home.folder()]);
    broken.child.stdin.end('{');
    await silent(broken);
    rmSync(terminal.record);
    await silent(hook(requestOf(project)));
  });
});

describe('relay-daemon desk-questions', () => {
  const before = '{\n\t"model": "opus",\n\t"hooks": { "PermissionRequest": [{ "matcher": "Bash", "hooks": [] }] }\n}';
  const run = async (folder: string, ...words: string[]) => {
    const program = startProgram(['desk-questions', ...words, '--home', join(folder, 'home')], {
      CLAUDE_CONFIG_DIR: join(folder, 'claude'),
    });
    program.child.stdin.end();
    const { code } = await program.exit;
    return { code, out: program.out(), err: program.err() };
  };

  it('44, desk 19: restores the settings of Claude Code byte for byte, or removes its entry alone', async () => {
    const folder = home.folder();
    const file = join(folder, 'claude/settings.json');
    const entries = () =>
      (JSON.parse(readFileSync(file, 'utf8')) as { hooks: { PermissionRequest: object[] } }).hooks.PermissionRequest;
    mkdirSync(join(folder, 'claude'));
    writeFileSync(file, before);
    expect(await run(folder, 'on')).toMatchObject({ code: 64, err: expect.stringContaining('"timeout": 3600') });
    expect(readFileSync(file, 'utf8')).toBe(before);
    expect(await run(folder, 'on', '--yes')).toMatchObject({ code: 0 });
    expect(entries()).toHaveLength(2);
    expect(await run(folder, 'on', '--yes')).toMatchObject({ out: expect.stringContaining('On already') });
    expect(JSON.parse((await run(folder, 'status', '--json')).out)).toMatchObject({ on: true, file });
    await run(folder, 'off');
    expect(readFileSync(file, 'utf8')).toBe(before);

    await run(folder, 'on', '--yes');
    const changed = JSON.parse(readFileSync(file, 'utf8')) as object;
    writeFileSync(file, JSON.stringify({ ...changed, theme: 'dark' }));
    await run(folder, 'off');
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ ...(JSON.parse(before) as object), theme: 'dark' });

    writeFileSync(file, '[');
    expect(await run(folder, 'on', '--yes')).toMatchObject({
      code: 1,
      err: expect.stringContaining('was not changed'),
    });
    rmSync(file);
    await run(folder, 'on', '--yes');
    await run(folder, 'off');
    expect(() => readFileSync(file)).toThrow();
  });
});
