/**
 * `npm start -- --lan`, on a phone that trusts the relay's certificate: a browser with its own certificate store. The
 * address is the default IP address; reach.test.ts covers passkeys, which need a name.
 */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import {
  type Child,
  type RelayProcess,
  setupLinkOf,
  startProgram,
  startRelayProcess,
  twoFreePorts,
} from '@relay/testing';
import { describeWith } from '@relay/testing/needs';
import type { Browser } from 'playwright-core';
import { type Person, eventually, launchChromium, newPerson, phone, pictures, registeredDevice } from './browser.ts';
import { connectTranscriptDaemon, item, put } from './transcript-daemon.ts';

const run = promisify(execFile);
/** Stands for the local network address of this machine, without a name. */
const host = '127.0.0.2';
const daemonProgram = fileURLToPath(new URL('../../apps/daemon/dist/main.js', import.meta.url));

describeWith(['chromium', 'libnss3-tools'], 'the relay in the local network, on a phone', () => {
  let folder: string;
  let relay: RelayProcess;
  let url: string;
  let trustUrl: string;
  let browser: Browser | undefined;
  let machine: Child | undefined;
  let person: Person;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'relay-lan-'));
    const port = await twoFreePorts();
    [url, trustUrl] = [`https://${host}:${port}`, `http://${host}:${port + 1}`];
    relay = await startRelayProcess({
      env: { PUBLIC_URL: undefined, AUTH_BUILTIN: 'on', AUTH_DEV_ISSUER: 'off' },
      args: ['--lan', '--lan-host', host, '--lan-port', String(port)],
    });
  });
  afterAll(async () => {
    await browser?.close();
    await machine?.end('SIGTERM');
    await relay?.end('SIGTERM');
    if (relay) await rm(relay.dataDir, { recursive: true, force: true });
    await rm(folder, { recursive: true, force: true });
  });

  it('is refused by a phone before it trusts the certificate, which the printed address serves', async () => {
    const home = join(folder, 'phone');
    const store = join(home, '.pki/nssdb');
    await mkdir(store, { recursive: true });
    await run('certutil', ['-N', '-d', `sql:${store}`, '--empty-password']);
    browser = await launchChromium([], home);
    const stranger = await newPerson(browser, url, { viewport: phone });
    await expect(stranger.goto('/')).rejects.toThrow('ERR_CERT_AUTHORITY_INVALID');
    await stranger.context.close();

    // The relay prints this line after its address.
    const address = () => /certificate once: (\S+) has it/.exec(relay.output())?.[1] ?? '';
    const printed = await eventually(address, (found) => found !== '');
    expect(printed).toBe(trustUrl);
    const learner = await newPerson(browser, url, { viewport: phone });
    await learner.goto(printed);
    await learner.heading('Trust this relay');
    await pictures(learner, 'lan-trust');
    const download = learner.page.waitForEvent('download');
    await learner.page.getByRole('link', { name: 'Download the certificate' }).click();
    const file = join(folder, 'authority.crt');
    await (await download).saveAs(file);
    const handed = new X509Certificate(await readFile(file));
    expect(relay.output()).toContain(`fingerprint that the phone shows: ${handed.fingerprint256}`);
    await run('certutil', ['-A', '-d', `sql:${store}`, '-n', 'relay', '-t', 'C,,', '-i', file]);
    await browser.close();
    browser = await launchChromium([], home);
    person = await newPerson(browser, url, { viewport: phone, serviceWorkers: 'allow' });
  });

  it('signs a person in, and can be installed as an app', async () => {
    await person.createAccount(await setupLinkOf(relay), 'ada@example.com');
    await person.goto('/account');
    await person.click('Sign out');
    await person.heading('Sign in');
    await person.signIn('ada@example.com');
    await person.heading('Settings');
    expect(await person.page.evaluate('navigator.serviceWorker.ready.then(({ scope }) => scope)')).toBe(`${url}/`);
  });

  it('shows an open question of an agent at once, and delivers the answer', async () => {
    const daemon = await connectTranscriptDaemon(
      relay,
      await registeredDevice({ url: relay.url, bearer: person.bearer }),
    );
    await person.goto('/sessions/new');
    await person.page.getByLabel(/^What should/).fill('Tidy up');
    await person.click('Start session');
    const { task_id: taskId } = (await daemon.next('task_start')) as unknown as { task_id: string };
    daemon.event(taskId, 'SESSION_STARTED', { session_id: 'native' });
    await person.page.waitForURL('**%3Anative');
    const prompt = 'May I delete the folder?';
    const options = [{ id: 'yes', label: 'Allow once', kind: 'allow_once' }];
    const question = { uuid: 'q1', title: prompt, kind: 'permission', options };
    daemon.say(taskId, 'native', [put(item('q1', 1, { kind: 'question', question, state: 'open' }, prompt))]);
    daemon.event(taskId, 'WAIT_FOR_USER', { prompt, question });
    await person.text(prompt);
    await person.click('Allow once');
    expect(await daemon.next('task_resume')).toMatchObject({ prompt_uuid: 'q1', option_id: 'yes' });
    await daemon.drop();
    expect(person.complaints).toEqual([]);
  });

  it('W12: prints a line that installs a machine without the certificate, and stops at another certificate', async () => {
    await person.goto('/devices/new');
    const line = await person.page.getByLabel('the command that installs', { exact: true }).innerText();
    await person.text('This relay signs its own certificate.');
    await pictures(person, 'lan-connect');
    const shell = async (name: string, command: string) => {
      const home = join(folder, name);
      await mkdir(home);
      return run('sh', ['-c', command], { env: { PATH: process.env.PATH ?? '', HOME: home } });
    };
    const [sha256 = ''] = /[0-9a-f]{64}/.exec(line) ?? [];
    await expect(shell('deceived', line.replace(sha256, '0'.repeat(64)))).rejects.toThrow('WARNING');
    const { stdout } = await shell('new-machine', line);
    expect(stdout).toContain(`register --server ${url}`);
    expect(stdout).toContain('Installed.');
  });

  it('accepts another machine whose programs trust it, and refuses one without that trust', async () => {
    const env = { PATH: process.env.PATH ?? '', HOME: folder };
    const words = ['register', '--server', url, '--agent-type', 'demo', '--name', 'second', '--json'];
    await expect(run(process.execPath, [daemonProgram, ...words], { env })).rejects.toThrow('set NODE_EXTRA_CA_CERTS');

    const trusting = { ...env, NODE_EXTRA_CA_CERTS: join(folder, 'authority.crt') };
    const register = startProgram(process.execPath, [daemonProgram, ...words], { env: trusting });
    const [, code = ''] = await register.wrote(/"user_code":"([\w-]+)"/);
    await person.goto(`/device?user_code=${code}`);
    await person.click('Approve');
    await person.text('is approved.');
    await register.wrote(/"event":"registered"/);
    machine = startProgram(process.execPath, [daemonProgram, 'run'], { env: trusting });
    await machine.wrote(/online|connected/i);
  });
});
