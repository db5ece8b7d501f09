// The hands of a person with one session: a window with the agent in a terminal, and an app. Each step waits for its own outcome.
import { randomUUID } from 'node:crypto';
import { lives, until } from './terminals.mjs';

/** Codex keeps a session of its background server locked for 60 s after the last terminal has left. */
const patienceMs = 150_000;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Calls the relay; a busy machine makes it refuse for a moment. A release is not repeated: its first call can have succeeded. */
const patient = (relay) => (name, path, options) =>
  until(async () => {
    const answer = await relay.call(name, path, options);
    const isRefused = answer.status === 503 || (answer.status === 504 && !String(path).endsWith('/release'));
    return isRefused ? undefined : answer;
  }, 'the relay answers');

/** The app of the person, with the session that `nameOf` returns. */
export function phoneOf({ relay, deviceId }, nameOf) {
  const call = patient(relay);
  const pathTo = (part) => `/api/sessions/${encodeURIComponent(nameOf())}${part}`;
  const post = async (path, body = {}) => {
    const headers = { 'Idempotency-Key': randomUUID() };
    const { status, text, body: answer } = await call('POST', path, { body, headers });
    if (status >= 300) throw new Error(`${path}: ${text}`);
    return answer;
  };
  const read = async () => (await call('GET', pathTo('?limit=1'))).body;
  return {
    read,
    begin: (message, projectPath) => post('/api/sessions', { deviceId, message, projectPath }),
    send: (content, more = {}) => post(pathTo('/messages'), { content, ...more }),
    release: (body) => post(pathTo('/release'), body),
    letGo: () => post(pathTo('/desk')),
    desk: async () => (await call('GET', pathTo('/desk'))).body,
    /** Returns the markers of the messages that the app shows. */
    async shown() {
      const page = await until(async () => {
        const { status, body } = await call('GET', pathTo('/messages?parts=1&limit=200'));
        return status === 200 && body.messages;
      }, 'the app reads the session');
      return page.filter(({ role }) => role === 'USER').flatMap(({ content }) => content.match(/\bword-[\w-]+/g) ?? []);
    },
    isKnown: () => until(async () => (await read()).id !== undefined, 'the app has the session'),
    isHeld: (wanted) =>
      until(
        async () => ((await read()).held !== undefined) === wanted,
        `the app shows the session ${wanted ? 'open' : 'closed'} in a terminal`,
        patienceMs,
      ),
    /** Waits until the task is completed, or in the state `other`. Rejects for another final state. */
    async done(taskId, other = 'completed') {
      const { state, error } = await until(
        async () => {
          const { body } = await call('GET', `/api/tasks/${taskId}`);
          return body.state !== undefined && !['queued', 'sent', 'running'].includes(body.state) && body;
        },
        'the task of the phone ends',
        patienceMs,
      );
      if (state !== 'completed' && state !== other) throw new Error(`the task is ${state}: ${JSON.stringify(error)}`);
    },
    /** Answers the question of the session with this option. Returns the id of the task. */
    async answer(option) {
      const { prompt } = await until(async () => {
        const session = await read();
        return session.prompt && session;
      }, 'the daemon asks');
      if (!prompt.options.some((one) => one.id === option)) throw new Error(`no ${option}: ${JSON.stringify(prompt)}`);
      const params = { id: nameOf(), uuid: prompt.id };
      const answer = await call('answerPrompt', { params, body: { option, digest: prompt.digest } });
      if (answer.status !== 202) throw new Error(`answer not accepted: ${answer.text}`);
      return answer.body.taskId;
    },
  };
}

/** The agent in a window of the person. `took` returns whether the agent has written the message with this word. */
export function windowOf(desk, folder, took) {
  const window = desk.open(folder);
  const shows = () => `the screen:\n${window.screen().trim()}`;
  const hasLeft = () => window.programs().length === 0;
  const run = (command) => {
    window.type(command);
    window.press('Enter');
  };
  const shellAnswers = async () => {
    await until(hasLeft, () => `the terminal is at its shell; ${shows()}`);
    if (!lives(window.pid)) throw new Error('the shell has ended with its program');
  };
  return {
    run,
    shows,
    programs: window.programs,
    close: window.close,
    enter: () => window.press('Enter'),
    isShown: (word) =>
      until(
        () => window.screen().includes(word),
        () => `the terminal shows ${word}; ${shows()}`,
      ),
    async type(text, word) {
      window.type(text);
      await this.isShown(word);
      // A terminal can still be busy with its last turn and drop the key.
      for (const end = Date.now() + 30_000; !took(word); await pause(1000)) {
        window.press('Enter');
        if (Date.now() > end) throw new Error(`the terminal took no message; ${shows()}`);
      }
    },
    /** Closes the program with keys, or the window with all of its programs. */
    async leave(way) {
      const programs = window.programs();
      for (let press = 0; way === 'keys' && !hasLeft() && press < 40; press++) {
        window.press('C-c');
        await pause(400);
      }
      if (way === 'keys') await shellAnswers();
      window.close();
      await until(() => !programs.some(lives), 'the programs of the window have ended');
    },
    /** The program has left because the phone closed it, and its shell is there. Returns the screen with its exit code. */
    async isClosed() {
      await shellAnswers();
      run('echo "code $?"');
      const screen = await until(() => /^code \d+/m.test(window.screen()) && window.screen(), 'the shell answers');
      window.close();
      return screen;
    },
  };
}
