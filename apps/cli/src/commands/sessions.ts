/** `relay sessions`: lists the conversations of this account, newest first. */
import { type Session, type SessionStatus, sessionStatuses } from '@relay/protocol';
import type { Terminal } from '@relay/machine';
import { usage } from '../failure.ts';
import { findDevice, shortNames } from '../naming.ts';
import { allSessions } from '../relay.ts';
import { paintOf } from '../show/style.ts';
import { shrinking, tableOf } from '../show/table.ts';
import { ago } from '../show/times.ts';
import type { CommonOptions } from './shared-options.ts';
import { contextOf } from './context.ts';

interface SessionsOptions extends CommonOptions {
  device?: string;
  status?: string;
  all?: boolean;
  search?: string;
  pinned?: boolean;
}

/** Parses `--status`. @throws Failure BAD_USAGE if it is not a status */
export function statusOf(text: string | undefined): SessionStatus | undefined {
  const status = sessionStatuses.find((one) => one === text);
  if (text !== undefined && status === undefined) throw usage(`--status must be one of ${sessionStatuses.join(', ')}.`);
  return status;
}

export async function sessionsCommand(options: SessionsOptions, terminal: Terminal): Promise<void> {
  const status = statusOf(options.status);
  const { relay, print, json } = contextOf(options, terminal);
  const device = options.device === undefined ? undefined : await findDevice(relay, options.device);
  const sessions = await allSessions(relay, {
    ...(device ? { deviceId: device.id } : {}),
    ...(status ? { status } : {}),
    ...(options.all ? { archived: 'all' } : {}),
    ...(options.search === undefined ? {} : { q: options.search }),
    ...(options.pinned ? { pinned: 'true' } : {}),
  });
  const isShort = json || sessions.length === 0;
  const devices = isShort ? [] : (await relay.call('listDevices')).devices;
  const names = new Map(devices.map(({ id, name }) => [id, name]));
  print({ sessions }, () => {
    if (sessions.length === 0)
      return options.search === undefined
        ? 'No sessions. Start one with "relay new <device> <message>".\n'
        : `No session matches "${options.search}".\n`;
    const short = shortNames(sessions.map(({ id }) => id));
    return tableOf(
      ['ID', 'STATUS', shrinking('DEVICE'), shrinking('TITLE'), 'CHANGED'],
      sessions.map((session) => [
        short.get(session.id) ?? session.id,
        { text: `${session.status}${heldOf(session)}`, paint: paintOf(session.status) },
        names.get(session.deviceId) ?? session.deviceId,
        `${session.pinned ? '^ ' : ''}${session.unread ? '* ' : ''}${session.title}${session.archived ? ' (archived)' : ''}`,
        ago(session.updatedAt),
      ]),
      terminal,
    );
  });
}

/** Describes a program on the machine that has the session open. */
const heldOf = ({ held }: Session) => (held ? `, open in ${held.program}` : '');
