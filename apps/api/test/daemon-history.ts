/** The answers of the scripted daemon to `get_messages`. */
import { type Frame, type TestDaemon } from '@relay/testing';

export const stored = (uuid: string, content = `content of ${uuid}`, role = 'USER') => ({
  uuid,
  role,
  content,
  timestamp: '2026-01-01T00:00:00.000Z',
});

/** Waits for the next request about this native session and answers it. Returns the request. */
export async function answerHistory(
  daemon: TestDaemon,
  nativeId: string,
  fields: Record<string, unknown> = {},
): Promise<Frame> {
  const asked = await daemon.next('get_messages', (frame) => frame.session_id === nativeId);
  daemon.send({ type: 'messages', request_id: asked.request_id, session_id: nativeId, ...fields });
  return asked;
}
