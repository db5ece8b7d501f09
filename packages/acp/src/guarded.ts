/**
 * Filters frames that the library would log with their content: responses to requests that were never sent, and notifications
 * that the library cannot read.
 */
import type { AnyMessage, Stream } from '@agentclientprotocol/sdk';

type Fields = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

/** Returns a notification that the library reads without complaint; undefined if the notification is useless. */
function notification({ method, params }: Fields): AnyMessage | undefined {
  if (!isObject(params)) return undefined;
  const { sessionId, requestId } = params;
  if (method === 'session/cancel' && typeof sessionId === 'string')
    return { jsonrpc: '2.0', method, params: { sessionId } };
  if (method === '$/cancel_request' && (typeof requestId === 'string' || typeof requestId === 'number'))
    return { jsonrpc: '2.0', method, params: { requestId } };
  return undefined;
}

/** `onStray`: the client sent a response to a request that was never sent. */
export function guarded({ readable, writable }: Stream, onStray: () => void = () => undefined): Stream {
  const pendingIds = new Set<unknown>();
  const writer = writable.getWriter();
  const incoming = new TransformStream<AnyMessage, AnyMessage>({
    transform(message: unknown, controller) {
      const pass = (one: AnyMessage | undefined) => one && controller.enqueue(one);
      if (!isObject(message) || Array.isArray(message)) return pass(message as AnyMessage);
      if ('method' in message)
        return pass(
          'id' in message || typeof message['method'] !== 'string' ? (message as AnyMessage) : notification(message),
        );
      const isAnswer = 'id' in message || 'result' in message || 'error' in message;
      if (!isAnswer || pendingIds.delete(message['id'])) pass(message as AnyMessage);
      else onStray();
    },
  });
  return {
    readable: readable.pipeThrough(incoming),
    writable: new WritableStream<AnyMessage>({
      write(message) {
        if ('method' in message && 'id' in message) pendingIds.add(message.id);
        return writer.write(message);
      },
      close: () => writer.close(),
      abort: (reason) => writer.abort(reason),
    }),
  };
}
