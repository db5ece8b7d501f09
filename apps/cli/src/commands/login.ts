/** `relay login`: signs in through the browser, or stores an access token of another issuer. */
import { spawn } from 'node:child_process';
import type { Terminal } from '@relay/machine';
import { chosenAddress, localRelay, refuseClear } from '../address.ts';
import { readInput, usage } from '../failure.ts';
import { homeOf, makeHome } from '../home.ts';
import { type Profile, changingProfiles, putProfile, readProfiles } from '../profiles.ts';
import { relayOf } from '../relay.ts';
import type { Access } from '../sign-in/access.ts';
import { signInWithBrowser } from '../sign-in/browser-flow.ts';
import { expiryOf } from '../sign-in/token-text.ts';
import type { CommonOptions } from './shared-options.ts';
import { untilInterrupted } from '../interruption.ts';
import { printer } from './context.ts';

interface LoginOptions extends CommonOptions {
  token?: string;
  browser: boolean;
  insecure?: boolean;
  port?: string;
}

const waitMs = 5 * 60_000;
const maxTokenBytes = 16 * 1024;

export async function loginCommand(options: LoginOptions, terminal: Terminal): Promise<void> {
  const { env } = terminal;
  const home = homeOf(env);
  const url = chosenAddress(options, env) ?? readProfiles(home).at(-1)?.url ?? localRelay;
  refuseClear(url, options.insecure ?? false, 'add --insecure');
  // Check the folder before the sign-in: tokens that cannot be stored would be lost.
  makeHome(home);
  const tokens =
    options.token === undefined ? await fromBrowser(url, options, terminal) : await fromToken(options.token, terminal);

  const me = await relayOf(accessTo(url, tokens.accessToken)).call('me');
  const profile: Profile = { url, account: me.email ?? me.name ?? me.id, ...tokens };
  await changingProfiles(home, () => Promise.resolve(putProfile(home, profile)));
  const { json, print } = printer(options, terminal);
  print(
    {
      ...(json ? { event: 'signed_in' } : {}),
      relay: url,
      ...me,
      expiresAt: tokens.expiresAt,
      renewable: 'renewal' in tokens,
    },
    () =>
      [
        `Signed in to ${url} as ${profile.account}.\n`,
        ...('renewal' in tokens ? [] : [handedOver(tokens.expiresAt)]),
      ].join(''),
  );
  if (env.RELAY_CLI_TOKEN)
    terminal.err('RELAY_CLI_TOKEN is set and overrides this sign-in. Unset it to use this one.\n');
}

const handedOver = (expiresAt: string | undefined) =>
  `This token cannot be renewed${expiresAt ? ` and expires at ${expiresAt}` : ''}. Sign in with a new one when it expires.\n`;

type Tokens = Pick<Profile, 'accessToken' | 'expiresAt' | 'renewal'>;

async function fromBrowser(url: string, options: LoginOptions, terminal: Terminal): Promise<Tokens> {
  const port = Number(options.port ?? 0);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw usage('--port must be a number from 0 to 65535.');
  const onLink = (link: string) => {
    if (options.json) terminal.out(`${JSON.stringify({ event: 'link', link })}\n`);
    else terminal.out(`Open this link in a browser and sign in:\n\n    ${link}\n\n`);
    if (options.browser) openBrowser(link, terminal.env);
    terminal.err('Waiting for the browser, at most five minutes…\n');
  };
  return untilInterrupted((signal) => signInWithBrowser({ url, port, signal, waitMs, onLink }));
}

async function fromToken(given: string, terminal: Terminal): Promise<Tokens> {
  const accessToken = (given === '-' ? await readInput(terminal, maxTokenBytes) : given).trim();
  if (!/^[\x21-\x7e]+$/.test(accessToken))
    throw usage('--token must be an access token; "-" reads it from standard input.');
  const expiresAt = expiryOf(accessToken);
  return { accessToken, ...(expiresAt === undefined ? {} : { expiresAt }) };
}

/** Access for verifying a token before storing it. */
const accessTo = (url: string, token: string): Access => ({
  url,
  renewable: false,
  token: () => Promise.resolve({ token, expiresAt: undefined }),
});

const openers: Partial<Record<NodeJS.Platform, [program: string, ...args: string[]]>> = {
  darwin: ['open'],
  // Not `start`, a shell builtin that would interpret the link.
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Opens a link in the user's browser, if possible. Failures are ignored, because the link is printed as well. */
function openBrowser(link: string, env: NodeJS.ProcessEnv): void {
  const [program, ...args] = openers[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, link], { env, stdio: 'ignore', detached: true });
  child.on('error', () => undefined);
  child.unref();
}
