/** The typed client as a program of a user, for tests that are about something else than the wire. */
import { type Client, createClient } from '@relay/client';
import type { RelayAddress } from './relay.ts';
import { send } from './rest.ts';

interface TestClientOptions {
  /** `null` has no credential, as a daemon before its registration. */
  user?: string | null;
  /** The index of the api; default the first. */
  api?: number;
}

/** Calls nothing twice: a failure is what the test is to see. */
export function clientOf(relay: RelayAddress, { user = 'alice', api = 0 }: TestClientOptions = {}): Client {
  return createClient({
    baseUrl: relay.apis[api]!.url,
    ...(user === null ? {} : { getToken: () => relay.token(user) }),
    fetch: sendOnce,
    retries: 0,
  });
}

/** On a connection of its own: one that is kept may lead to a relay that was stopped meanwhile. */
const sendOnce: typeof fetch = async (url, { method = 'GET', headers, body } = {}) => {
  const answer = await send(method, url as string, {
    headers: headers as Record<string, string>,
    ...(typeof body === 'string' ? { raw: body } : {}),
  });
  return new Response(answer.text === '' ? null : answer.text, { status: answer.status, headers: answer.headers });
};
