/** A place to run the program: it captures its sign-in folder, output and exit code. Independent of any relay. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Program, type Result, startProgram } from './program.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into documents of every shape
type JsonResult = { exit: number | null } & Record<string, any>;

/** Programs that stop after the test, each with a separate folder. */
export function createDesk() {
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
        /** Runs with --json. Returns the document, or the error, with the exit code. */
        async json(args: readonly string[], env?: NodeJS.ProcessEnv): Promise<JsonResult> {
          const { code, out, err } = await run([...args, '--json'], env);
          const text = code === 0 ? out : err;
          try {
            return { exit: code, ...(JSON.parse(text) as object) };
          } catch {
            throw new Error(`no JSON document: ${code} ${out} ${err}`);
          }
        },
        /** The stored profile of the only relay. */
        stored: () => (JSON.parse(readFileSync(file, 'utf8')) as { relays: Stored[] }).relays[0]!,
        /** Changes the stored profile, like the passing of time would. */
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

export type Own = ReturnType<ReturnType<typeof createDesk>['open']>;
