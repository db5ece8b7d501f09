/** The typed client as a program of a user, for tests that are about something else than the wire. */
import { type Client, createClient } from '@relay/client';
import type { RelayAddress } from './relay.ts';
import { send } from './rest.ts';

interface TestClientOptions {
  /** `null` sends no credential, like a daemon before its registration. */
  user?: string | null;
  /** The index of the api; default the first. */
  api?: number;
}

/** Never retries: the test must see each failure. */
export function clientOf(relay: RelayAddress, { user = 'alice', api = 0 }: TestClientOptions = {}): Client {
  return createClient({
    baseUrl: relay.apis[api]!.url,
    ...(user === null ? {} : { getToken: () => relay.token(user) }),
    fetch: sendOnce,
    retries: 0,
  });
}

/** Uses a new connection: a kept one can lead to a relay that has stopped since. */
const sendOnce: typeof fetch = async (url, { method = 'GET', headers, body } = {}) => {
  const answer = await send(method, url as string, {
    headers: headers as Record<string, string>,
    ...(typeof body === 'string' ? { raw: body } : {}),
  });
  return new Response(answer.text === '' ? null : answer.text, { status: answer.status, headers: answer.headers });
};
