/** A relay with its own sign-in behind one address, people with browsers, their daemons, and folders that disappear. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Browser,
  type DaemonOptions,
  type RelayAddress,
  type RelayOptions,
  type TestDaemon,
  type TestRelay,
  callerOf,
  connectDaemon,
  password,
  send,
  signedInWeb,
  startRelay,
} from '@relay/testing';
import { type Front, openFront } from './front.ts';
import { type Program, type Result, startProgram } from './program.ts';

export interface Person {
  email: string;
  browser: Browser;
  /** The relay as this person's other programs see it. */
  relay: RelayAddress;
  daemon(options?: DaemonOptions & { name?: string }): Promise<TestDaemon>;
}

export interface World {
  front: Front;
  relay: TestRelay;
  url: string;
  person(): Promise<Person>;
  close(): Promise<void>;
}

export async function openWorld(options: RelayOptions = {}): Promise<World> {
  const front = await openFront();
  const relay = await startRelay({ identity: true, ...options, config: { publicUrl: front.url, ...options.config } });
  front.leadTo(relay.url);
  let people = 0;
  return {
    front,
    relay,
    url: front.url,
    async person() {
      people += 1;
      const email = `person${people}@example.com`;
      const browser = new Browser(relay);
      await browser.signUp(email);
      const { access_token: token } = await signedInWeb(browser);
      const own = { ...relay, token: () => token, call: callerOf([relay.url], () => token) };
      return {
        email,
        browser,
        relay: own,
        async daemon({ name, ...daemonOptions } = {}) {
          const daemon = await connectDaemon(own, daemonOptions);
          if (name) await own.call('PATCH', `/api/devices/${daemon.deviceId}`, { body: { name } });
          return daemon;
        },
      };
    },
    async close() {
      await relay.stop();
      await front.close();
    },
  };
}

/** What a person does with the link: signs in if asked, allows it, and goes where the relay sends them. */
export async function followLink(
  browser: Browser,
  link: string,
  { allow = true } = {},
): Promise<{ back: URL; page: string }> {
  const url = new URL(link);
  const first = await browser.send('GET', `${url.pathname}${url.search}`);
  const where = new URL(
    (first.body as { url?: string } | undefined)?.url ?? first.headers.location ?? '',
    browser.origin,
  );
  const back = where.pathname === '/consent' ? await browser.consent(where, allow) : where;
  const { text } = await send('GET', back.href);
  return { back, page: text };
}

/** A program with a folder of its own. */
export function createDesk(world: () => World) {
  const folders: string[] = [];
  const running = new Set<Program>();
  const makeFolder = () => {
    const folder = mkdtempSync(join(tmpdir(), 'relay-cli-test-'));
    folders.push(folder);
    return folder;
  };
  return {
    makeFolder,
    open(folder = makeFolder()) {
      const start = (args: readonly string[], env: NodeJS.ProcessEnv = {}) => {
        const program = startProgram(args, { RELAY_CLI_CONFIG_DIR: folder, ...env });
        running.add(program);
        void program.exit.then(() => running.delete(program));
        return program;
      };
      const file = join(folder, 'credentials.json');
      const run = async (args: readonly string[], env?: NodeJS.ProcessEnv, input = ''): Promise<Result> => {
        const program = start(args, env);
        program.child.stdin.end(input);
        return program.exit;
      };
      return {
        folder,
        file,
        start,
        run,
        /** Runs with --json; the document, or the error, with the exit code. */
        async json(args: readonly string[], env?: NodeJS.ProcessEnv) {
          const { code, out, err } = await run([...args, '--json'], env);
          const text = code === 0 ? out : err;
          try {
            return { exit: code, ...(JSON.parse(text) as Record<string, any>) }; // eslint-disable-line @typescript-eslint/no-explicit-any
          } catch {
            throw new Error(`no JSON document: ${code} ${out} ${err}`);
          }
        },
        async login(browser: Browser, ...args: string[]): Promise<Result> {
          const program = start(['login', '--no-browser', '--url', world().url, ...args]);
          await program.says(/\/auth\/oauth2\/authorize\S+/);
          await followLink(browser, /http\S+\/auth\/oauth2\/authorize\S+/.exec(program.out())![0]);
          return program.exit;
        },
        /** What is stored about the only relay. */
        stored: () => (JSON.parse(readFileSync(file, 'utf8')) as { relays: Stored[] }).relays[0]!,
        /** Changes what is stored, as time would. */
        change(by: (stored: Stored) => void) {
          const all = JSON.parse(readFileSync(file, 'utf8')) as { relays: Stored[] };
          by(all.relays[0]!);
          writeFileSync(file, JSON.stringify(all));
        },
      };
    },
    async clear() {
      for (const program of running) {
        program.child.kill('SIGKILL');
        await program.exit;
      }
      for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
    },
  };
}

export interface Stored {
  url: string;
  account: string;
  accessToken: string;
  expiresAt?: string;
  renewal?: { refreshToken: string };
}

export { password };
