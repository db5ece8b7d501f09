/** `relay tidy`: archives or deletes all matching sessions, in as many calls as needed. */
import type { ChangeSessions } from '@relay/protocol';
import type { Terminal } from '@relay/machine';
import { exitCodes, usage } from '../failure.ts';
import { findDevice } from '../naming.ts';
import type { CommonOptions } from './shared-options.ts';
import { isConfirmed } from './confirm.ts';
import { contextOf } from './context.ts';
import { statusOf } from './sessions.ts';

interface TidyOptions extends CommonOptions {
  device?: string;
  status?: string;
  search?: string;
  before?: string;
  archived?: boolean;
  yes?: boolean;
}

const actions = { archive: 'archived', unarchive: 'unarchived', delete: 'deleted' } as const;
const isAction = (text: string): text is keyof typeof actions => Object.hasOwn(actions, text);

export async function tidyCommand(action: string, options: TidyOptions, terminal: Terminal): Promise<number> {
  const { search, archived } = options;
  if (!isAction(action)) throw usage(`Unknown action "${action}". Use archive, unarchive or delete.`);
  const status = statusOf(options.status);
  if (archived && action !== 'delete') throw usage('--archived works only with "delete".');
  const before = options.before === undefined ? undefined : new Date(options.before);
  if (before && Number.isNaN(before.getTime())) throw usage('--before must be a date such as 2026-10-01.');
  const filter: ChangeSessions['filter'] = {
    ...(status === undefined ? {} : { status }),
    ...(search === undefined ? {} : { q: search }),
    ...(before ? { before: before.toISOString() } : {}),
    ...(archived ? { archived: 'true' } : {}),
  };
  if (Object.keys(filter).length === 0 && options.device === undefined)
    throw usage('Choose sessions with --device, --status, --search, --before or --archived.');
  const { relay, print } = contextOf(options, terminal);
  if (options.device !== undefined) filter.deviceId = (await findDevice(relay, options.device)).id;
  const question = 'Delete every matching session from the relay?';
  if (action === 'delete' && !(await isConfirmed(options, terminal, 'delete sessions', question)))
    return exitCodes.failed;
  let changed = 0;
  for (;;) {
    const done = await relay.call('changeSessions', { body: { action, filter } });
    changed += done.changed;
    if (!done.more || done.changed === 0) break;
  }
  print({ changed }, () => `${changed} ${changed === 1 ? 'session is' : 'sessions are'} ${actions[action]}.\n`);
  return exitCodes.ok;
}
