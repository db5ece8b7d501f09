/** `relay devices` and its subcommands: the machines of this account. */
import { type Device, limits } from '@relay/protocol';
import type { Terminal } from '@relay/machine';
import { exitCodes, usage } from '../failure.ts';
import { findDevice } from '../naming.ts';
import { paintOf } from '../show/style.ts';
import { listOf, shrinking, tableOf } from '../show/table.ts';
import { oneLine } from '../show/text.ts';
import { ago, clockTime } from '../show/times.ts';
import type { CommonOptions } from './shared-options.ts';
import { isConfirmed } from './confirm.ts';
import { contextOf } from './context.ts';

/** Describes two machines that share one registration; empty if there is no conflict. */
function conflictOf({ name, conflict }: Device): string {
  if (!conflict) return '';
  const names = conflict.machines.map(({ hostname, address }) =>
    [hostname, address]
      .filter((part) => part !== '')
      .map(oneLine)
      .join(' '),
  );
  const which = names.length > 1 ? ` (${names.join(', ')})` : '';
  return `Two machines use the registration of "${oneLine(name)}"${which}: run "relay-daemon register --force" on one of them.\n`;
}

export async function listDevicesCommand(options: CommonOptions, terminal: Terminal): Promise<void> {
  const { relay, print } = contextOf(options, terminal);
  const { devices } = await relay.call('listDevices');
  const columns = [shrinking('NAME'), 'STATUS', 'AGENT', 'SEEN', 'ID'];
  print({ devices }, () =>
    devices.length === 0
      ? 'No devices yet. Run "relay-daemon register" on the machine with the agent.\n'
      : tableOf(
          columns,
          devices.map(({ name, status, agents, agentType, lastSeenAt, id }) => [
            name,
            { text: status, paint: paintOf(status) },
            agentsOf({ agents, agentType }),
            status === 'online' ? 'now' : ago(lastSeenAt),
            id,
          ]),
          terminal,
        ) + devices.map((device) => conflictOf(device)).join(''),
  );
}

export async function showDeviceCommand(typed: string, options: CommonOptions, terminal: Terminal): Promise<void> {
  const { relay, print } = contextOf(options, terminal);
  const device = await findDevice(relay, typed);
  const { connections } = await relay.call('listConnections', { params: { id: device.id } });
  print({ ...device, connections }, () => {
    const facts =
      listOf([
        ['Name', device.name],
        ['Status', device.status],
        ['Host', device.hostname],
        ['Agent', agentsOf(device)],
        ['Last seen', `${ago(device.lastSeenAt)} (${device.lastSeenAt})`],
        ['Id', device.id],
      ]) + conflictOf(device);
    if (connections.length === 0) return `${facts}It has never connected.\n`;
    const rows = connections.map(({ connectedAt, disconnectedAt, closeCode, reason, daemonVersion }) => [
      clockTime(connectedAt),
      disconnectedAt ? clockTime(disconnectedAt) : { text: 'now', paint: paintOf('online') },
      [closeCode, reason].filter((part) => part !== undefined && part !== '').join(' '),
      daemonVersion,
    ]);
    const columns = ['CONNECTED', 'UNTIL', shrinking('WHY'), 'DAEMON'];
    return `${facts}\n${tableOf(columns, rows, terminal)}`;
  });
}

/** Measures the round trip to the daemon of a device. */
export async function pingDeviceCommand(typed: string, options: CommonOptions, terminal: Terminal): Promise<void> {
  const { relay, print } = contextOf(options, terminal);
  const { id, name } = await findDevice(relay, typed);
  const answer = await relay.call('pingDevice', { params: { id } });
  print(answer, () => `"${oneLine(name)}" answered in ${answer.ms} ms.\n`);
}

const agentsOf = ({ agents, agentType }: Pick<Device, 'agents' | 'agentType'>): string =>
  (agents ?? [{ agentType }]).map(({ agentType: type }) => type).join(', ');

export async function renameDeviceCommand(
  typed: string,
  name: string,
  options: CommonOptions,
  terminal: Terminal,
): Promise<void> {
  if (name.trim() === '' || name.length > limits.nameCharacters) {
    throw usage(`A name must have 1 to ${limits.nameCharacters} characters.`);
  }
  const { relay, print } = contextOf(options, terminal);
  const before = await findDevice(relay, typed);
  const device = await relay.call('updateDevice', { params: { id: before.id }, body: { name } });
  print(device, () => `Renamed "${oneLine(before.name)}" to "${oneLine(device.name)}".\n`);
}

export async function removeDeviceCommand(
  typed: string,
  options: CommonOptions & { yes?: boolean },
  terminal: Terminal,
): Promise<number> {
  const { relay, print } = contextOf(options, terminal);
  const device = await findDevice(relay, typed);
  const name = oneLine(device.name);
  const question = `Remove "${name}" (${device.id})? This revokes its credential and deletes its sessions from the relay; files on the machine stay.`;
  if (!(await isConfirmed(options, terminal, `remove "${name}" (${device.id})`, question))) return exitCodes.failed;
  await relay.call('deleteDevice', { params: { id: device.id } });
  print({ id: device.id, removed: true }, () => `Removed "${name}" and disconnected its daemon.\n`);
  return exitCodes.ok;
}
