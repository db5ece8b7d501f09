/** A relay with its own sign-in behind one address, users with browsers, and their daemons. */
import {
  Browser,
  type DaemonOptions,
  type RelayAddress,
  type RelayOptions,
  type TestDaemon,
  type TestRelay,
  callerOf,
  connectDaemon,
  send,
  signedInWeb,
  startRelay,
} from '@relay/testing';
import { type Front, openFront } from './front.ts';
import type { Own } from './desk.ts';
import type { Result } from './program.ts';

export interface Person {
  email: string;
  browser: Browser;
  /** The relay, as the user's other programs call it. */
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

/** Follows the link like a person: signs in if asked, consents, and follows the redirect. */
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

export const linkIn = (text: string): string => /http\S+\/auth\/oauth2\/authorize\S+/.exec(text)?.[0] ?? '';

/** All steps: the program shows a link, the person follows it. */
export async function logIn(own: Own, url: string, browser: Browser): Promise<Result> {
  const program = own.start(['login', '--no-browser', '--url', url]);
  await program.says('Waiting for the browser');
  await followLink(browser, linkIn(program.out()));
  return program.exit;
}
