/** `relay acp-token`: manages the tokens that ACP clients on phones and in browsers use to reach a device. */
import type { Command } from 'commander';
import { type AcpScope, acpScopes } from '@relay/protocol';
import type { Terminal } from '@relay/machine';
import { usage } from '../failure.ts';
import { findDevice } from '../naming.ts';
import { shrinking, tableOf } from '../show/table.ts';
import { oneLine } from '../show/text.ts';
import { ago, clockTime } from '../show/times.ts';
import type { CommonOptions } from './shared-options.ts';
import { type Run, addCommand } from './add-command.ts';
import { contextOf } from './context.ts';

interface CreateOptions extends CommonOptions {
  name?: string;
  readOnly?: boolean;
}

async function createCommand(typed: string | undefined, options: CreateOptions, terminal: Terminal): Promise<void> {
  if (typed === undefined) throw usage('Name the device: relay acp-token <device>.');
  const { relay, print } = contextOf(options, terminal);
  const device = await findDevice(relay, typed);
  const scopes: AcpScope[] = options.readOnly ? ['sessions:read'] : [...acpScopes];
  const name = options.name === undefined ? {} : { name: options.name };
  const token = await relay.call('createAcpToken', { body: { deviceId: device.id, scopes, ...name } });
  print(
    token,
    () =>
      `Shown once. In the ACP client, as a remote agent over WebSocket:\n\n` +
      `  address  ${token.url}\n  token    ${token.token}\n\n` +
      `It gives ${options.readOnly ? 'read-only ' : ''}access to ${oneLine(device.name)} only, and expires after 90 days without use. ` +
      `Revoke it: relay acp-token revoke ${token.id}\n`,
  );
}

async function listCommand(options: CommonOptions, terminal: Terminal): Promise<void> {
  const { relay, print } = contextOf(options, terminal);
  const [answer, { devices }] = await Promise.all([relay.call('listAcpTokens'), relay.call('listDevices')]);
  const names = new Map(devices.map(({ id, name }) => [id, name]));
  const columns = [shrinking('NAME'), shrinking('DEVICE'), 'MAY', 'USED', 'UNTIL', 'ID'];
  const rows = answer.tokens.map(({ id, deviceId, name, scopes, usedAt, expiresAt }) => [
    oneLine(name) || '–',
    names.get(deviceId) ?? deviceId,
    scopes.includes('sessions:write') ? 'write' : 'read',
    usedAt === undefined ? 'never' : ago(usedAt),
    clockTime(expiresAt),
    id,
  ]);
  print(answer, () =>
    rows.length === 0
      ? 'No tokens of ACP clients. "relay acp-token <device>" makes one.\n'
      : tableOf(columns, rows, terminal),
  );
}

async function revokeCommand(id: string, options: CommonOptions, terminal: Terminal): Promise<void> {
  const { relay, print } = contextOf(options, terminal);
  await relay.call('revokeAcpToken', { params: { id } });
  print({ id, revoked: true }, () => 'Revoked. Clients that used it are disconnected.\n');
}

export function addAcpTokenCommands(program: Command, run: Run): void {
  const tokens = addCommand(
    program,
    'acp-token',
    'make a token that lets an ACP client on a phone or in a browser reach a device',
    'relay acp-token laptop --name "My phone"',
    'relay acp-token laptop --read-only',
    'relay acp-token list',
  )
    .argument('[device]', 'id or name')
    .option('--name <text>', 'the client that uses it')
    .option('--read-only', 'it can read, but not send, answer or cancel')
    .action(run(createCommand));
  addCommand(tokens, 'list', 'list the tokens of ACP clients', 'relay acp-token list').action(run(listCommand));
  addCommand(tokens, 'revoke', 'revoke a token of an ACP client', 'relay acp-token revoke 01KKNS0W7M4GQ0C3Y5R8T2V6XC')
    .argument('<id>', 'its id, from "relay acp-token list"')
    .action(run(revokeCommand));
}
