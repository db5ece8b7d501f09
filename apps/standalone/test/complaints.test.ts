/** An operator on call solves three complaints with `relay-admin`, each with at most five commands. */
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { peopleOf } from '@relay/api';
import { createLogger } from '@relay/telemetry';
import {
  Browser,
  type Registration,
  type TestRelay,
  connectDaemon,
  giveCode,
  password,
  setUpSecondFactor,
  signedInWeb,
  quickSweeps,
  startRelay,
} from '@relay/testing';
import { readArguments, runCommand } from '../src/admin-commands.ts';

const email = 'ada@example.com';
let relay: TestRelay;
let browser: Browser;
let headers: Record<string, string>;
let machine: Registration;
let commands: number;

beforeAll(async () => {
  relay = await startRelay({ identity: true, config: quickSweeps });
  browser = new Browser(relay);
  await browser.signUp(email);
  headers = { Authorization: `Bearer ${(await signedInWeb(browser)).access_token}` };
  const body = { hostname: 'desk', agent_type: 'scripted' };
  const { userCode, deviceCode } = (await relay.call('requestCode', { user: null, body })).body;
  await relay.call('approveCode', { user: null, headers, params: { userCode } });
  const polled = (await relay.call('pollCode', { user: null, body: { device_code: deviceCode } })).body;
  machine = { deviceId: polled.deviceId, refreshToken: polled.refreshToken, agentType: 'scripted', user: 'ada' };
});
beforeEach(() => {
  commands = 0;
});
afterAll(() => relay.stop());

const admin = async (...args: string[]): Promise<string> => {
  commands += 1;
  expect(commands).toBeLessThanOrEqual(5);
  const [{ backplane }] = relay.apis as [TestRelay['apis'][number]];
  const logger = createLogger({ level: 'silent', name: 'test', instance: 'test' });
  const shared = { config: relay.config, database: relay.database, backplane, logger };
  const deps = {
    ...shared,
    people: peopleOf({ ...shared, deviceVerifier: { forget: () => undefined } as never }),
    version: '1.0.0',
  };
  const request = readArguments(args);
  if (typeof request === 'string') throw new Error(request);
  return (await runCommand(deps, request)).lines.join('\n');
};
const sectionOf = (text: string, title: string) =>
  new RegExp(`^${title}:\\n((?: {2}.*(?:\\n|$))*)`, 'm').exec(text)?.[1] ?? '';

/** The section once it has the result: the operator comes minutes later. */
async function findUntil(pattern: RegExp, title: string): Promise<string> {
  for (;;) {
    commands = 0;
    const section = sectionOf(await admin('find', email), title);
    if (pattern.test(section)) return section;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

it('"the report of eight o\'clock did not come": its machine was off', async () => {
  const schedule = { message: 'the secret report', cron: '0 8 * * *', zone: 'UTC', waitSeconds: 60 };
  const body = { deviceId: machine.deviceId, ...schedule };
  const { id } = (await relay.call('createSchedule', { user: null, headers, body })).body;
  const { sql } = relay.database;
  await sql.execute`UPDATE schedules SET next_at = now() WHERE id = ${id}`;
  await findUntil(/run=started/, 'schedules');
  await sql.execute`UPDATE tasks SET expires_at = now() WHERE state = 'queued'`;
  const schedules = await findUntil(/run=(?!started)/, 'schedules');
  expect(schedules).toMatch(new RegExp(`id=${id} .*cron=0 8 \\* \\* \\* .*run=missed`));
  const text = await admin('find', email);
  expect(sectionOf(text, 'devices')).toMatch(/status=offline .*lastSeenAt=/);
  expect(sectionOf(text, 'outcomes')).toMatch(/errorCode=TASK_EXPIRED/);
  expect(text).not.toContain('secret');
});

it('"my laptop goes offline again and again": two machines share its registration', async () => {
  const host = (hostname: string) => ({ registration: machine, headers: { 'X-Daemon-Hostname': hostname } });
  const first = await connectDaemon(relay, host('desk'));
  const copy = await connectDaemon(relay, host('copied-image'));
  expect(await first.closed).toMatchObject({ code: 4409 });
  const connections = await findUntil(/closeCode=4409/, 'connections');
  expect(connections).toMatch(/closeCode=4409 .*hostname=desk/);
  expect(connections).toMatch(/hostname=copied-image/);
  const removed = await admin('remove-device', machine.deviceId, '--yes');
  expect(removed).toContain('Its owner can register it again.');
  expect(await copy.closed).toMatchObject({ code: 4404 });
});

it('"my password is right, but no code works": ten wrong codes lock the second step', async () => {
  await setUpSecondFactor(browser);
  const phone = new Browser(relay);
  for (let n = 0; n < 12; n += 1) {
    await phone.signIn(email);
    await giveCode(phone, '000000');
  }
  expect((await giveCode(phone, '000000')).status).toBeGreaterThanOrEqual(400);
  expect(await admin('find', email)).toMatch(/^person: .*secondFactor=true .*wrongCodes=10 lockedUntil=/m);
  await admin('reset-second-factor', email);
  expect((await new Browser(relay).signIn(email, password)).status).toBe(200);
});
