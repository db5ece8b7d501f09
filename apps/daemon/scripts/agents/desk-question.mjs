// Questions of Claude Code in its terminal, answered in an app: the real agent in tmux, its hook as `relay-daemon desk-questions on` writes it, a real
// relay and daemon, a simulated model.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { registerDevice } from '@relay/testing';
import { createDaemon, silentLog } from '../../dist/index.js';
import { agentOf } from '../../dist/agents/choice.js';
import { agentEnvironment } from '../../dist/agents/environment.js';
import { installedAgent, terminalOf } from './installed.mjs';
import { histories } from './one-line.mjs';
import { phoneOf, windowOf } from './person.mjs';
import { terminals, until } from './terminals.mjs';

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const isQuestion = /Do you want to/;

/** Returns a sentence for the report. Throws if a step has another outcome. */
export async function answersAtDesk(name, relay, mock, must) {
  const { preset, program, home, project, env } = installedAgent(name, mock.url);
  const { bin, prepare } = terminalOf(name, program);
  prepare(home, [project]);
  const whole = agentEnvironment({ ...env, PATH: `${bin}:${env.PATH}`, DISABLE_AUTOUPDATER: '1' });
  const place = join(home, 'relay');
  const stateDir = join(place, 'state');
  mkdirSync(stateDir, { recursive: true });
  const settings = join(home, '.claude/settings.json');
  const bytes = () => (existsSync(settings) ? readFileSync(settings, 'utf8') : undefined);
  const before = bytes();
  const turn = (...words) =>
    must(
      spawnSync(process.execPath, [main, 'desk-questions', ...words, '--home', place], { env: whole }).status === 0,
      `desk-questions ${words}`,
    );
  turn('on', '--yes');
  const choice = { kind: 'acp', preset: name, program, args: [...preset.args], env };
  const registration = await registerDevice(relay, { agentType: name });
  const rules = { defaultPath: project, allowed: [project] };
  const start = () => {
    const daemon = createDaemon({
      server: relay.gateways[0].url,
      ...registration,
      daemonVersion: '1.0.0',
      storeDir: stateDir,
      ...agentOf(choice, { rules, stateDir, log: silentLog }),
      timings: { reportIntervalMs: 1000 },
    });
    daemon.start();
    return daemon;
  };
  let daemon = start();
  const desk = terminals(whole);
  try {
    await daemon.connected();
    const history = histories(name, home);
    let native;
    const phone = phoneOf(
      { relay, deviceId: registration.deviceId },
      () => `${registration.deviceId}:${name}:${native}`,
    );
    const window = windowOf(desk, project, (word) => history.has(native, 'user', word));
    const made = (file) => existsSync(join(project, file));
    const asks = async (file) => {
      const session = await until(
        async () => {
          const now = await phone.read();
          return now.prompt && JSON.stringify(now.prompt).includes(file) && now;
        },
        () => `the app has the question about ${file}; ${window.shows()}`,
      );
      await until(() => isQuestion.test(window.shows()), 'the terminal shows the question as well');
      return session.prompt;
    };
    const closes = () => until(async () => (await phone.read()).prompt === undefined, 'the question closes in the app');

    window.run(`${preset.resume[0]} --permission-mode default "@@sh echo made > allowed-1.txt"`);
    native = await until(
      () => history.idWith('allowed-1.txt'),
      () => `a session; ${window.shows()}`,
      120_000,
    );
    const prompt = await asks('allowed-1.txt');
    must(prompt.options.map(({ id }) => id).join() === 'allow,reject', JSON.stringify(prompt));
    must(!made('allowed-1.txt'), 'the command ran before its answer');
    await phone.done(await phone.answer('allow'));
    await until(
      () => made('allowed-1.txt'),
      () => `the allowed command runs; ${window.shows()}`,
    );

    await window.type('@@sh echo made > rejected-2.txt', 'rejected-2.txt');
    const { id, digest } = await asks('rejected-2.txt');
    const words = 'word-why: use another name';
    const params = { id: `${registration.deviceId}:${name}:${native}`, uuid: id };
    const { status, body, text } = await relay.call('answerPrompt', { params, body: { text: words, digest } });
    must(status === 202, text);
    await phone.done(body.taskId);
    await until(
      () => mock.requests.some(({ results }) => results?.some((one) => one.text.includes(words))),
      () => `the agent gets the words; ${window.shows()}`,
    );
    must(!made('rejected-2.txt'), 'a rejected command ran');

    await window.type('@@sh echo made > typed-3.txt', 'typed-3.txt');
    await asks('typed-3.txt');
    window.enter();
    await until(
      () => made('typed-3.txt'),
      () => `the terminal allows it; ${window.shows()}`,
    );
    await closes();

    await window.type('@@sh echo made > away-4.txt', 'away-4.txt');
    await asks('away-4.txt');
    await daemon.stop();
    must(isQuestion.test(window.shows()), 'the terminal lost its question with the daemon');
    window.enter();
    await until(
      () => made('away-4.txt'),
      () => `the terminal allows it without a daemon; ${window.shows()}`,
    );
    daemon = start();
    await daemon.connected();
    await window.leave('keys');
    turn('off');
    must(bytes() === before, 'the settings have other bytes');
    return '4 questions: allowed and rejected with words in an app, allowed in the terminal, and without a daemon; settings restored';
  } finally {
    desk.close();
    await daemon.stop();
    rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}
