/** A user's app on `/ws/attention`. Every frame is checked against its schema, and against the events that this client asked for. */
import { type Attention, type AttentionFrame, attentionFrames, validator } from '@relay/protocol';
import { show } from './expect.ts';
import { Inbox } from './inbox.ts';
import { type Live, connect } from './socket.ts';

export interface AppOptions {
  headers?: Readonly<Record<string, string>>;
  protocols?: readonly string[];
  /** Whole query string parameters, a credential or `since` for instance. */
  query?: Readonly<Record<string, string>>;
}

export interface App {
  readonly inbox: Inbox<AttentionFrame>;
  readonly live: Live;
  /** Renews the credential in band. */
  auth(token: string): Promise<Attention<'auth_ok'>>;
  /** Frames about one session, by any of these ids, since a mark. */
  about(ids: readonly string[], from: number): readonly AttentionFrame[];
}

/** The frames that a client gets without `events` (rules, 11.8). */
const ordinary: ReadonlySet<string> = new Set(['session_update', 'new_message', 'device_status']);
const withoutOffset: ReadonlySet<string> = new Set(['resync', 'auth_ok']);

export async function openApp(
  wsUrl: string,
  options: AppOptions,
  violated: (text: string) => void,
  name = 'an app',
): Promise<App> {
  const inbox = new Inbox<AttentionFrame>(name);
  const checks = new Map(Object.entries(attentionFrames).map(([type, schema]) => [type, validator(schema)]));
  const { query = {} } = options;
  const asked = new Set(ordinary);
  for (const event of query.events?.split(',') ?? [])
    if (event === 'output') asked.add('task_output');
    else if (event === 'transcript') asked.add('transcript');
  const since = query.since !== undefined;

  const onText = (text: string) => {
    const frame = parse(text);
    if (!frame) {
      violated(`specification §4.2: expected a JSON object with a type on /ws/attention, came ${text.slice(0, 200)}`);
      return;
    }
    if (!since && !asked.has(frame.type))
      violated(`rules, 11.8: a client that did not ask for it got ${text.slice(0, 200)}`);
    if (since && !withoutOffset.has(frame.type) && (typeof frame.offset !== 'string' || frame.offset === ''))
      violated(`rules, 11.7: expected an offset on every frame of a client with since, came ${text.slice(0, 200)}`);
    const checked = checks.get(frame.type)?.(frame);
    // A later release might send an unknown type.
    if (!checked) return;
    if (checked.ok) inbox.push(frame as unknown as AttentionFrame);
    else violated(`a ${frame.type} frame does not fit its schema, ${checked.reason}; came ${show(frame)}`);
  };

  const search = new URLSearchParams({ ...query }).toString();
  const { headers, protocols } = options;
  const live = await connect(`${wsUrl}/ws/attention${search && `?${search}`}`, {
    onText,
    ...(headers ? { headers } : {}),
    ...(protocols ? { protocols } : {}),
  });
  void live.closed.then(({ code, reason }) => inbox.end(`the socket was closed with ${code} ${reason}`));

  return {
    inbox,
    live,
    auth: (token) => {
      asked.add('auth_ok');
      const from = inbox.mark();
      live.send(JSON.stringify({ type: 'auth', token }));
      return inbox.until('auth_ok', undefined, { from });
    },
    about: (ids, from) =>
      inbox.since(from).filter((frame) => {
        if (frame.type === 'session_update') return ids.includes(frame.session.id);
        return 'sessionId' in frame && ids.includes(frame.sessionId);
      }),
  };
}

function parse(text: string): (Record<string, unknown> & { type: string }) | undefined {
  try {
    const value = JSON.parse(text) as Record<string, unknown> | null;
    return typeof value === 'object' && value !== null && typeof value.type === 'string'
      ? (value as Record<string, unknown> & { type: string })
      : undefined;
  } catch {
    return undefined;
  }
}
