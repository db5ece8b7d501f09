/**
 * The relay on a phone by the recipe of docs/reach.md: Caddy with its own certificate, also in place of a tunnel. The
 * address has a name and https, so everything works on the phone: sign-in, passkeys, the worker, questions and answers.
 */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { X509Certificate, createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, freePort, startProgram } from '@relay/testing';
import { describeWith } from '@relay/testing/needs';
import type { Browser } from 'playwright-core';
import {
  type BrowserRelay,
  type Person,
  launchChromium,
  newPerson,
  phone,
  pictures,
  registeredDevice,
  startBrowserRelay,
} from './browser.ts';
import { fingerprintReader } from './fingerprint-reader.ts';
import { connectTranscriptDaemon, item, put } from './transcript-daemon.ts';

const name = 'relay.home.arpa';
const document = new URL('../../docs/reach.md', import.meta.url);

/** The printed Caddyfile, on free ports. */
async function caddyfile(httpPort: number, httpsPort: number, relayPort: number): Promise<string> {
  const printed = /```\n(\{[\s\S]*?tls internal[\s\S]*?)```/.exec(await readFile(document, 'utf8'))![1]!;
  const ports = `{\n\tadmin off\n\thttp_port ${httpPort}\n\thttps_port ${httpsPort}`;
  return printed.replace('{', ports).replace('localhost:4000', `localhost:${relayPort}`);
}

describeWith(['chromium', 'caddy'], 'the relay behind Caddy, on a phone', () => {
  let folder: string;
  let caddy: Child;
  let relay: BrowserRelay;
  let browser: Browser;
  let person: Person;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'relay-reach-'));
    const [httpPort, httpsPort, relayPort] = [await freePort(), await freePort(), await freePort()];
    await writeFile(join(folder, 'Caddyfile'), await caddyfile(httpPort, httpsPort, relayPort));
    caddy = startProgram('caddy', ['run', '--config', join(folder, 'Caddyfile')], {
      env: { PATH: process.env.PATH ?? '', HOME: folder, XDG_DATA_HOME: folder },
    });
    await caddy.wrote(/serving initial configuration/);
    const publicUrl = `https://${name}:${httpsPort}`;
    relay = await startBrowserRelay({ PUBLIC_URL: publicUrl, TRUST_PROXY: 'loopback' }, relayPort);
    // The person made the phone trust this authority.
    const authority = new X509Certificate(await readFile(join(folder, 'caddy/pki/authorities/local/intermediate.crt')));
    const trusted = createHash('sha256').update(authority.publicKey.export({ type: 'spki', format: 'der' }));
    browser = await launchChromium([
      `--host-resolver-rules=MAP ${name} 127.0.0.1`,
      `--ignore-certificate-errors-spki-list=${trusted.digest('base64')}`,
    ]);
    person = await newPerson(browser, publicUrl, { viewport: phone, serviceWorkers: 'allow' });
  });
  afterAll(async () => {
    await browser?.close();
    await relay?.end();
    await caddy?.end('SIGTERM');
    await rm(folder, { recursive: true, force: true });
  });

  it('signs a person in, with a passkey too, and can be installed as an app', async () => {
    expect(relay.setupLink.startsWith(`${person.url}/setup#`)).toBe(true);
    await person.createAccount(relay.setupLink, 'ada@example.com');
    await fingerprintReader(person);
    await person.goto('/account');
    await person.page.getByRole('img', { name: `QR code of ${person.url}` }).waitFor();
    await person.click('Add a passkey');
    await person.page.getByRole('region', { name: 'Passkeys' }).getByText('Chrome on Linux').waitFor();
    await pictures(person, 'reach-settings');
    await person.page.setViewportSize(phone);
    await person.click('Sign out');
    await person.heading('Sign in');
    await person.click('Sign in with a passkey');
    await person.heading('Settings');
    expect(await person.page.evaluate('navigator.serviceWorker.ready.then(({ scope }) => scope)')).toBe(
      `${person.url}/`,
    );
  });

  it('shows an open question of an agent at once, and delivers the answer', async () => {
    // A machine at home has the certificate, or uses the local address.
    const daemon = await connectTranscriptDaemon(
      relay.relay,
      await registeredDevice({ url: `http://localhost:${new URL(relay.url).port}`, bearer: person.bearer }),
    );
    await person.goto('/sessions/new');
    await person.page.getByLabel(/^What should/).fill('Tidy up');
    await person.click('Start session');
    const { task_id: taskId } = (await daemon.next('task_start')) as unknown as { task_id: string };
    daemon.event(taskId, 'SESSION_STARTED', { session_id: 'native' });
    await person.page.waitForURL('**%3Anative');
    const prompt = 'May I delete the folder?';
    const options = [
      { id: 'yes', label: 'Allow once', kind: 'allow_once' },
      { id: 'no', label: 'Reject', kind: 'reject_once' },
    ];
    const question = { uuid: 'q1', title: prompt, kind: 'permission', options };
    daemon.say(taskId, 'native', [put(item('q1', 1, { kind: 'question', question, state: 'open' }, prompt))]);
    daemon.event(taskId, 'WAIT_FOR_USER', { prompt, question });
    await person.text(prompt);
    await person.click('Allow once');
    expect(await daemon.next('task_resume')).toMatchObject({ prompt_uuid: 'q1', option_id: 'yes' });
    await daemon.drop();
    expect(person.complaints).toEqual([]);
  });
});
