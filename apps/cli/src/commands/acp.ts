/** `relay acp`: an agent of the Agent Client Protocol on standard input and output. Standard output carries only the protocol. */
import { type Device as AcpDevice, type Mapping, deviceFor, ndJsonStream, serveAcp } from '@relay/acp';
import { type Device, limits } from '@relay/protocol';
import { type Terminal, Failure } from '@relay/machine';
import { exitCodes, usage } from '../failure.ts';
import type { CommonOptions } from './shared-options.ts';
import { findDevice } from '../naming.ts';
import { streamFailureOf } from '../refusals.ts';
import { type Relay, clientOf } from '../relay.ts';
import { oneLine } from '../show/text.ts';
import { contextOf } from './context.ts';

export interface AcpOptions extends CommonOptions {
  agent?: string;
  cwd?: string;
  map?: readonly string[];
  queue?: string;
}

/** Enough for a prompt with eight images. */
const maxMessageBytes = 20 * 1024 * 1024;

/** Serves until the editor closes standard input. @throws Failure if the device is unknown, or the sign-in expires or is revoked */
export async function acpCommand(typed: string | undefined, options: AcpOptions, terminal: Terminal): Promise<void> {
  const mappings = (options.map ?? []).map(mappingOf);
  const queueSeconds = queueOf(options.queue);
  const { relay, access, url } = contextOf(options, terminal);
  const device = acpDevice(await (typed === undefined ? onlyDevice(relay) : findDevice(relay, typed)), options.agent);
  const { input, output } = terminal.pipes();
  try {
    await serveAcp(ndJsonStream(output, input, { maxMessageBytes }), {
      client: clientOf(access),
      device,
      cwd: options.cwd,
      mappings,
      queueSeconds,
      folderHelp: 'Choose one with --cwd, or name its folder with --map.',
      isPassing: (error) => error instanceof Failure && error.exitCode === exitCodes.temporary,
      log: (line) => terminal.err(`${line}\n`),
    });
  } catch (error) {
    throw streamFailureOf(url, error);
  }
}

/** A registry entry cannot name a device, so the only device is the default. @throws Failure BAD_USAGE */
async function onlyDevice(relay: Relay): Promise<Device> {
  const { devices } = await relay.call('listDevices');
  const [device] = devices;
  if (device && devices.length === 1) return device;
  throw usage(
    device
      ? `Name the device: relay acp <device>, with one of ${devices.map(({ name }) => oneLine(name)).join(', ')}.`
      : 'You have no device yet. Connect a machine to your account first.',
  );
}

function acpDevice(device: Device, wanted?: string): AcpDevice {
  const found = deviceFor(device, wanted);
  if (found) return found;
  const { agentType, agents = [] } = device;
  throw usage(
    `This device has no agent "${oneLine(wanted ?? '')}". It has ${[...new Set([agentType, ...agents.map((one) => one.agentType)])].join(', ')}.`,
  );
}

function mappingOf(text: string): Mapping {
  const at = text.indexOf('=');
  if (at < 1 || at === text.length - 1) throw usage('--map must be <local>=<remote>, two folders.');
  return { local: text.slice(0, at), remote: text.slice(at + 1) };
}

function queueOf(text: string | undefined): number {
  if (text === undefined) return 0;
  if (!/^\d+$/.test(text) || Number(text) > limits.queueTtlSeconds)
    throw usage(`--queue must be a number of seconds up to ${limits.queueTtlSeconds}.`);
  return Number(text);
}
