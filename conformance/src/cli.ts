/** The command line: arguments → run → one line per check and a summary. Prints, and returns the exit code; never exits the process. */
import { parseArgs } from 'node:util';
import { checks } from './checks/index.ts';
import { type Result, runChecks } from './run.ts';

const help = `Usage: npm run conformance -- --url <url> --token <jwt> [options]

Checks from outside that a relay does what the interface specification and docs/rules.md say. It speaks HTTP and
WebSocket only, registers devices of its own for the user of the token, and removes them at the end.

  --url <url>            where the relay is, http://127.0.0.1:4000 for instance
  --token <jwt>          access token of a user, with all scopes
  --other-token <jwt>    access token of another user: checks also that they do not see each other's things
  --ws-url <url>         where its WebSockets are, if not at the same address
  --only <text>          only checks whose name contains this text (or matches it as a regular expression)
  --slow                 also the checks that wait for times of the protocol or cost many requests (two minutes more)
  --rate-limit <n>       requests per minute that the relay is configured for (default 100, the specification's)
  --create-limit <n>     session creations per minute that it is configured for (default 10)
  --list                 print the checks and the rows of the specification they cover, and run none
  --json                 print one JSON object instead of lines
  --help                 print this

The suite stays within the limits of the relay and waits when they are used up, so a run takes one to three minutes
unless they are raised. Exit code: 0 when no check failed, 1 when one did, 2 for wrong arguments.
`;

interface Output {
  out: (text: string) => void;
  err: (text: string) => void;
}

const toConsole: Output = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
};

function read(args: readonly string[]) {
  return parseArgs({
    args: [...args],
    options: {
      url: { type: 'string' },
      token: { type: 'string' },
      'other-token': { type: 'string' },
      'ws-url': { type: 'string' },
      only: { type: 'string' },
      slow: { type: 'boolean', default: false },
      'rate-limit': { type: 'string', default: '100' },
      'create-limit': { type: 'string', default: '10' },
      list: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  }).values;
}

function chosen(only: string | undefined) {
  if (only === undefined) return checks;
  const text = only.toLowerCase();
  let pattern: RegExp | undefined;
  try {
    pattern = new RegExp(only, 'i');
  } catch {
    // Then it is only a text.
  }
  return checks.filter(({ name }) => name.toLowerCase().includes(text) || pattern?.test(name));
}

const address = (url: string) => url.replace(/\/+$/, '');
const line = ({ outcome, name, reason, ms }: Result) =>
  `${{ passed: 'pass', failed: 'FAIL', skipped: 'skip' }[outcome]}  ${name}${outcome === 'skipped' ? '' : ` (${ms} ms)`}${
    reason === undefined ? '' : `\n      ${reason}`
  }\n`;

/** `args`: without the name of the program. */
export async function main(args: readonly string[], { out, err }: Output = toConsole): Promise<number> {
  const fail = (text: string) => {
    err(`conformance: ${text}\n\n${help}`);
    return 2;
  };
  let options: ReturnType<typeof read>;
  try {
    options = read(args);
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error));
  }
  if (options.help) {
    out(help);
    return 0;
  }
  const selected = chosen(options.only);
  if (selected.length === 0) return fail(`no check is called like "${options.only}"`);
  if (options.list) {
    for (const { name, rows, needs } of selected)
      out(`${name}${needs ? ` [--${needs}]` : ''}${rows.length > 0 ? `\n      ${rows.join(' · ')}` : ''}\n`);
    return 0;
  }
  const { url, token, 'other-token': otherToken } = options;
  if (url === undefined || !/^https?:\/\//.test(url) || !URL.canParse(url))
    return fail('--url must be an http(s) address');
  if (token === undefined || token === '') return fail('--token is required');
  const limits = { perMinute: Number(options['rate-limit']), creations: Number(options['create-limit']) };
  if (!Object.values(limits).every((limit) => Number.isInteger(limit) && limit > 0))
    return fail('--rate-limit and --create-limit must be whole numbers');

  const startedAtMs = Date.now();
  const results = await runChecks(selected, {
    url: address(url),
    wsUrl: address(options['ws-url'] ?? url).replace(/^http/, 'ws'),
    token,
    ...(otherToken === undefined ? {} : { otherToken }),
    limits,
    slow: options.slow,
    progress: (text) => err(`....  ${text}\n`),
    report: (result) => {
      if (!options.json) out(line(result));
    },
  });
  const count = (outcome: Result['outcome']) => results.filter((result) => result.outcome === outcome).length;
  const [passed, failed, skipped] = [count('passed'), count('failed'), count('skipped')];
  const seconds = Math.round((Date.now() - startedAtMs) / 100) / 10;
  if (options.json)
    out(`${JSON.stringify({ url, passed, failed, skipped, seconds, checks: results }, undefined, 2)}\n`);
  else out(`\n${passed} passed, ${failed} failed, ${skipped} skipped in ${seconds} s\n`);
  return failed === 0 ? 0 : 1;
}
