/** `relay watch`: marks sessions for notifications and prints their events; `relay unwatch` removes the mark. */
import type { Terminal } from '@relay/machine';
import { usage } from '../failure.ts';
import { type AnyFrame, type Happening, happenings } from '../happenings.ts';
import { findSessionId, nameOf } from '../naming.ts';
import { createRecentItems } from '../recent-items.ts';
import { type Wait, listening } from '../patience.ts';
import { type Relay, allSessions } from '../relay.ts';
import { createOverview } from '../show/overview.ts';
import { lostText } from '../show/conversation-view.ts';
import type { CommonOptions } from './shared-options.ts';
import { type Context, contextOf, jsonLine } from './context.ts';

interface WatchOptions extends CommonOptions {
  /** False with `--no-follow`. */
  follow: boolean;
}

export async function watchCommand(typed: readonly string[], options: WatchOptions, terminal: Terminal): Promise<void> {
  if (typed.length === 0 && !options.follow) throw usage('--no-follow needs a session to watch.');
  const context = contextOf(options, terminal);
  const { relay, json } = context;
  const found: string[] = [];
  for (const text of typed) found.push(await findSessionId(relay, text));
  const ids = new Set<string>();
  for (const id of found) {
    const { sessionId, watched } = await relay.call('watch', { body: { sessionId: id } });
    ids.add(id).add(sessionId);
    if (json) terminal.out(`${JSON.stringify({ type: 'watched', sessionId, watched })}\n`);
    else
      terminal.err(
        `Watching ${nameOf(sessionId)}: you get notifications until "relay unwatch ${nameOf(sessionId)}".\n`,
      );
  }
  if (options.follow) await print(context, ids);
}

export async function unwatchCommand(
  typed: readonly string[],
  options: CommonOptions,
  terminal: Terminal,
): Promise<void> {
  const { relay, print } = contextOf(options, terminal);
  const found: string[] = [];
  for (const text of typed) found.push(await findSessionId(relay, text));
  const sessionIds: string[] = [];
  for (const sessionId of found) sessionIds.push((await relay.call('unwatch', { body: { sessionId } })).sessionId);
  print({ unwatched: sessionIds }, () => sessionIds.map((id) => `${nameOf(id)}: notifications are off.\n`).join(''));
}

/** Prints events until Ctrl-C, for the given sessions, or for all sessions if `ids` is empty. */
async function print({ terminal, relay, json }: Context, ids: Set<string>): Promise<void> {
  const isWanted = wanted(ids);
  const items = createRecentItems();
  /** Transcript operations are printed as the resulting items. */
  const recordsOf = (frame: AnyFrame): object[] =>
    frame.type === 'transcript'
      ? items.apply(frame).map((item) => ({ type: 'item', sessionId: frame.sessionId, item }))
      : [lineFor(frame)];
  // Frames contain only ids, so the names are read first.
  const load = async (from: Relay) => {
    // Reads run in sequence, because each read reports when it waits.
    const sessions = await allSessions(from);
    const { devices } = await from.call('listDevices').catch(() => ({ devices: [] }));
    return createOverview(terminal, { sessions, devices });
  };
  let lineOf = json ? () => '' : await load(relay);
  let wasConnected = false;
  const note = (record: object, text: string) => (json ? terminal.out(jsonLine(record)) : terminal.err(text));
  const missed = async (from: Relay) => {
    note({ type: 'resync' }, 'Some events may have been missed. "relay sessions" shows the current state.\n');
    if (!json) lineOf = await load(from);
  };
  const lost = ({ why, waitMs }: { why: string; waitMs: number }) =>
    note({ type: 'connection', state: 'lost', why, waitMs }, lostText({ why, waitMs }));
  const connected = () => {
    const state = wasConnected ? 'back' : 'open';
    note({ type: 'connection', state }, wasConnected ? 'Reconnected.\n' : 'Listening; press Ctrl-C to stop.\n');
    wasConnected = true;
  };
  const handle = async (from: Relay, happening: Happening) => {
    if (happening.kind === 'frame') {
      const { frame } = happening;
      if (!isWanted(frame)) return;
      if (json) for (const record of recordsOf(frame)) terminal.out(jsonLine(record));
      else terminal.out(lineOf(frame));
      if (!json && frame.type === 'sessions_changed') lineOf = await load(from);
    } else if (happening.kind === 'lost') lost(happening);
    else if (happening.kind === 'gap') await missed(from);
    else connected();
  };
  const report = (wait: Wait) => (wait.state === 'lost' ? lost(wait) : connected());
  await listening(relay, report, async (patient, signal) => {
    for await (const happening of happenings({ relay: patient, output: false, signal })) {
      await handle(patient, happening);
      await terminal.drained();
    }
  });
}

/** Frames of unknown types are printed raw. */
const lineFor = (frame: AnyFrame): object => (frame.type === 'unknown' ? frame.frame : frame);

function wanted(ids: Set<string>): (frame: AnyFrame) => boolean {
  if (ids.size === 0) return () => true;
  return (frame) => {
    // The changed sessions are unknown, so they can include any of these.
    if (frame.type === 'sessions_changed') return true;
    // Concerns the user, independent of the watched sessions.
    if (frame.type === 'access_granted') return true;
    if (frame.type === 'session_update') {
      // Keep watching a session when its device gives it a permanent id.
      if (ids.has(frame.previousId ?? '')) ids.add(frame.session.id);
      return ids.has(frame.session.id);
    }
    const fields: object = lineFor(frame);
    return 'sessionId' in fields && ids.has(fields.sessionId as string);
  };
}
