/** The names of the sentences that the daemon itself wrote into a session. */
import type { DoubleConnection } from '../src/conformance/relay-double.ts';

export async function reasons(connection: DoubleConnection, sessionId: string): Promise<unknown[]> {
  connection.send({ type: 'get_messages', request_id: 'reasons', session_id: sessionId, limit: 50, parts: true });
  const { messages } = await connection.frame('messages');
  return messages!.flatMap(({ part }) => (part && part.kind !== 'question' ? [part['reason'] ?? []] : [])).flat();
}
