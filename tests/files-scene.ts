/** A file, the changes of a session and usage figures on their way through a relay, with markers in everything that it must not keep. */
import type { TestDaemon } from '@relay/testing';

export const fileMarkers = ['zebra-plan.csv', 'zebra-bytes', 'src/zebra.ts', 'zebra-line', '98765.4321'];
export const fileCapabilities = ['files', 'changes', 'browse', 'spending', 'content', 'transcript'] as const;

type Call = (method: string, path: string, more?: object) => Promise<{ status: number; text: string }>;

/** Returns the texts of all answers. */
export async function passFiles(call: Call, daemon: TestDaemon): Promise<string> {
  const change = { path: 'src/zebra.ts', change: 'edit', added: 1, removed: 0 };
  const answers: Readonly<Record<string, { type: string } & Record<string, unknown>>> = {
    file_open: { type: 'file_result', received: 0, done: false, name: 'zebra-plan.csv' },
    file_piece: { type: 'file_result', received: 11, done: true, name: 'zebra-plan.csv' },
    get_changes: { type: 'changes', scope: 'uncommitted', scopes: ['uncommitted'], files: [change], count: 1 },
    get_diff: { type: 'diff', path: change.path, change, hunks: [{ old: 1, new: 1, lines: ['+zebra-line'] }] },
    get_files: { type: 'files', path: '', entries: [{ name: 'zebra.ts', path: change.path, kind: 'file', bytes: 1 }] },
    get_file: { type: 'file', path: change.path, kind: 'text', bytes: 10, text: 'zebra-line' },
    spending_request: {
      type: 'spending_response',
      days: [{ day: '2026-11-28', agent_type: 'scripted', turns: 1, cost: { amount: 98765.4321, currency: 'USD' } }],
      since: '2026-11-01T00:00:00.000Z',
    },
  };
  daemon.socket.on('message', (data: Buffer) => {
    const { type, request_id } = JSON.parse(data.toString('utf8')) as { type: string; request_id: string };
    const answer = answers[type];
    if (answer) daemon.send({ ...answer, request_id });
  });
  const { deviceId } = daemon;
  const now = new Date().toISOString();
  daemon.send({
    type: 'report_sessions',
    sessions: [{ session_id: 'native', title: 't', project: '/p', last_activity: now, is_active: false }],
  });
  const fileId = '01KKNT3B6Q4M8Z1R5T7YB3C6DE';
  const session = `/api/sessions/${encodeURIComponent(`${deviceId}:scripted:native`)}`;
  const body = { fileId, name: 'zebra-plan.csv', size: 11, mime: 'text/csv' };
  const headers = { 'Content-Type': 'application/octet-stream' };
  const path = encodeURIComponent(change.path);
  let text = '';
  for (const [method, address, more] of [
    ['POST', `/api/devices/${deviceId}/files`, { body }],
    ['PUT', `/api/devices/${deviceId}/files/${fileId}?offset=0`, { raw: Buffer.from('zebra-bytes'), headers }],
    ['GET', `${session}/changes?scope=uncommitted`],
    ['GET', `${session}/changes/diff?scope=uncommitted&path=${path}`],
    ['GET', `${session}/files?find=zebra`],
    ['GET', `${session}/files/content?path=${path}`],
    ['GET', `/api/devices/${deviceId}/usage?from=2026-11-01&to=2026-11-28&zone=UTC`],
  ] as const) {
    const answer = await call(method, address, more);
    if (answer.status >= 300) throw new Error(`${method} ${address}: ${answer.status} ${answer.text}`);
    text += answer.text;
  }
  return text;
}
