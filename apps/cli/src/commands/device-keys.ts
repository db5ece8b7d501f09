/** `relay devices invite`, `keys` and `revoke-key`: manage registration keys, which let machines register unattended. */
import type { Command } from 'commander';
import { deviceKeyTtl, deviceKeyUses } from '@relay/protocol';
import type { Terminal } from '@relay/machine';
import { usage } from '../failure.ts';
import { shrinking, tableOf } from '../show/table.ts';
import { oneLine } from '../show/text.ts';
import { ago, clockTime } from '../show/times.ts';
import type { CommonOptions } from './shared-options.ts';
import { type Run, addCommand } from './add-command.ts';
import { contextOf } from './context.ts';

interface InviteOptions extends CommonOptions {
  ttl: string;
  uses: string;
  name?: string;
}

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** @throws Failure BAD_USAGE */
function secondsOf(typed: string): number {
  const [, number, unit = ''] = /^(\d{1,7})([smhd])$/.exec(typed) ?? [];
  const seconds = Number(number) * (unitSeconds[unit] ?? Number.NaN);
  if (!(seconds >= deviceKeyTtl.min && seconds <= deviceKeyTtl.max))
    throw usage('--ttl must be a time from 1m to 30d, such as 10m, 2h or 7d.');
  return seconds;
}

async function inviteCommand(options: InviteOptions, terminal: Terminal): Promise<void> {
  const ttlSeconds = secondsOf(options.ttl);
  const uses = Number(options.uses);
  if (!/^\d+$/.test(options.uses) || uses < 1 || uses > deviceKeyUses.max)
    throw usage(`--uses must be a number from 1 to ${deviceKeyUses.max}.`);
  const { relay, print, url } = contextOf(options, terminal);
  const name = options.name === undefined ? {} : { name: options.name };
  const key = await relay.call('createDeviceKey', { body: { ttlSeconds, uses, ...name } });
  print(
    key,
    () =>
      `Shown once, for ${uses === 1 ? 'one machine' : `${uses} machines`} until ${clockTime(key.expiresAt)}. On the machine:\n\n` +
      `  RELAY_DAEMON_KEY=${key.key} relay-daemon register --server ${url} --agent auto\n\n` +
      `Revoke it: relay devices revoke-key ${key.id}\n`,
  );
}

async function keysCommand(options: CommonOptions, terminal: Terminal): Promise<void> {
  const { relay, print } = contextOf(options, terminal);
  const answer = await relay.call('listDeviceKeys');
  const columns = [shrinking('NAME'), 'USED', 'MADE', 'UNTIL', 'ID'];
  const rows = answer.keys.map(({ name, used, uses, createdAt, expiresAt, id }) => [
    oneLine(name) || '–',
    `${used} of ${uses}`,
    ago(createdAt),
    clockTime(expiresAt),
    id,
  ]);
  print(answer, () =>
    rows.length === 0 ? 'No registration keys. "relay devices invite" makes one.\n' : tableOf(columns, rows, terminal),
  );
}

async function revokeKeyCommand(id: string, options: CommonOptions, terminal: Terminal): Promise<void> {
  const { relay, print } = contextOf(options, terminal);
  await relay.call('revokeDeviceKey', { params: { id } });
  print(
    { id, revoked: true },
    () => 'Revoked. Machines that registered with it stay; "relay devices remove" removes one.\n',
  );
}

export function addDeviceKeyCommands(devices: Command, run: Run): void {
  addCommand(
    devices,
    'invite',
    'make a key that lets machines register without a person to approve them',
    'relay devices invite --ttl 10m --uses 1',
    'relay devices invite --ttl 7d --uses 50 --name "Build machines"',
  )
    .option('--ttl <time>', 'how long it is valid, at most 30d', '10m')
    .option('--uses <number>', 'how many machines may register with it', '1')
    .option('--name <text>', 'what it is for')
    .action(run(inviteCommand));
  addCommand(devices, 'keys', 'list your registration keys', 'relay devices keys').action(run(keysCommand));
  addCommand(devices, 'revoke-key', 'revoke a registration key', 'relay devices revoke-key 01KKNS0W7M4GQ0C3Y5R8T2V6XB')
    .argument('<id>', 'its id, from "relay devices keys"')
    .action(run(revokeKeyCommand));
}
