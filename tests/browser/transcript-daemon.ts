/**
 * A daemon that keeps transcripts, as far as a browser can see: it streams operations, and answers requests for pages
 * of the resulting items.
 */
import { type Capability, type Item, type Operation, applyOperations, transcriptLimits } from '@relay/protocol';
import { type Registration, type RelayAddress, type TestDaemon, connectDaemon } from '@relay/testing';

export interface TranscriptDaemon extends TestDaemon {
  /** Streams operations, and records them. */
  say(taskId: string, nativeId: string, ops: readonly Operation[]): void;
  /** Records operations without streaming them, as during an outage of the relay. */
  keep(nativeId: string, ops: readonly Operation[]): void;
  items(nativeId: string): readonly Item[];
  /** The bytes of each content with this item and name; the daemon has no others. */
  contents: Map<string, { mime: string; bytes: Buffer }>;
}

export const item = (uuid: string, seq: number, part: Item['part'], content = ''): Item => ({
  uuid,
  seq,
  role: part.kind === 'user' ? 'USER' : part.kind === 'mark' || part.kind === 'error' ? 'SYSTEM' : 'AGENT',
  content,
  timestamp: new Date().toISOString(),
  part,
});
export const put = (one: Item): Operation => ({ op: 'put', item: one });
export const add = (uuid: string, text: string): Operation => ({ op: 'add', uuid, text });
export const set = (uuid: string, part: Record<string, unknown>): Operation => ({ op: 'set', uuid, part });

/** The newest items that fit on one page. */
function newestOf(items: readonly Item[], limit: number): readonly Item[] {
  let bytes = 0;
  const last = items.findLastIndex((one, at) => {
    bytes += Buffer.byteLength(JSON.stringify(one));
    return items.length - at > limit || bytes > transcriptLimits.pageBytes;
  });
  return items.slice(last + 1);
}

export async function connectTranscriptDaemon(
  relay: RelayAddress,
  registration: Registration,
  more: { capabilities?: readonly Capability[]; headers?: Record<string, string> } = {},
): Promise<TranscriptDaemon> {
  const daemon = await connectDaemon(relay, {
    registration,
    ...more,
    capabilities: ['transcript', 'prompts', 'content', ...(more.capabilities ?? [])],
  });
  const sessions = new Map<string, { v: number; items: readonly Item[] }>();
  const keep = (nativeId: string, ops: readonly Operation[]): number => {
    const { v, items } = sessions.get(nativeId) ?? { v: 0, items: [] };
    sessions.set(nativeId, { v: v + 1, items: applyOperations(items, ops, v + 1) });
    return v + 1;
  };
  const contents: TranscriptDaemon['contents'] = new Map();
  const sendContent = ({ request_id, session_id, uuid, name, offset, limit }: Record<string, unknown>) => {
    const reply = { type: 'content_response', request_id, session_id };
    const found = contents.get(`${String(uuid)} ${String(name)}`);
    if (!found) return daemon.send({ ...reply, code: 'CONTENT_NOT_FOUND', error: 'removed' });
    const { mime, bytes } = found;
    const data = bytes.subarray(Number(offset), Number(offset) + Number(limit)).toString('base64');
    return daemon.send({ ...reply, mime, size: bytes.length, data });
  };
  daemon.socket.on('message', (data: Buffer) => {
    const frame = JSON.parse(data.toString('utf8')) as Record<string, unknown> & { type: string };
    if (frame.type === 'content_request') sendContent(frame);
    if (frame.type !== 'get_messages') return;
    const { v, items } = sessions.get(String(frame['session_id'])) ?? { v: 1, items: [] };
    const end = items.findIndex(({ uuid }) => uuid === frame['before_uuid']);
    const before = end === -1 ? items : items.slice(0, end);
    const known = frame['changed'];
    const missed = typeof known === 'number' ? items.filter((one) => (one.v ?? 0) > known) : before;
    const limit = Number(frame['limit']);
    // If the missing items exceed one page, sends the newest page instead.
    const isReset = missed !== before && newestOf(missed, limit).length < missed.length;
    const asked = isReset ? before : missed;
    const page = newestOf(asked, limit);
    daemon.send({
      type: 'messages',
      request_id: frame['request_id'],
      session_id: frame['session_id'],
      v,
      ...(isReset ? { reset: true } : {}),
      has_more: page.length < asked.length,
      messages: page,
    });
  });
  return Object.assign(daemon, {
    say: (taskId: string, nativeId: string, ops: readonly Operation[]) => {
      const v = keep(nativeId, ops);
      daemon.send({ type: 'event', event_type: 'TRANSCRIPT', task_id: taskId, session_id: nativeId, v, ops });
    },
    keep: (nativeId: string, ops: readonly Operation[]) => void keep(nativeId, ops),
    contents,
    items: (nativeId: string) => sessions.get(nativeId)?.items ?? [],
  });
}
