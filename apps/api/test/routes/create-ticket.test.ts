import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestRelay, connectApp, connectDaemon, startRelay } from '@relay/testing';
import { expectSuccess } from '../answers.ts';
import { itAsksForCredentials } from '../credentials.ts';

describe('POST /api/ws-tickets', () => {
  let relay: TestRelay;
  beforeAll(async () => {
    relay = await startRelay({ config: { offlineGraceMs: 50 } });
  });
  afterAll(() => relay.stop());

  itAsksForCredentials(() => relay, 'createTicket');

  it('returns a ticket that admits its user', async () => {
    const answer = await relay.call('createTicket', { user: 'bob' });
    const { ticket, expiresIn } = expectSuccess('createTicket', 201, answer) as { ticket: string; expiresIn: number };
    expect(expiresIn).toBe(30);
    const app = await connectApp(relay, { credential: 'ticket', token: ticket });
    await app.close();
  });

  it('W9: returns the position in the frames, so that a stream from there has everything since', async () => {
    const daemon = await connectDaemon(relay, { user: 'eve' });
    const first = await relay.call('createTicket', { user: 'eve' });
    const { ticket, offset } = first.body as { ticket: string; offset: string };
    expect(offset).toMatch(/^.+$/);
    await daemon.drop();
    const app = await connectApp(relay, { credential: 'ticket', token: ticket, since: offset });
    const states = [];
    while (states.at(-1) !== 'offline') states.push((await app.next('device_status')).status);
    await app.close();
  });

  it('returns a new one every time, of 256 bits', async () => {
    const tickets = await Promise.all([1, 2, 3].map(() => relay.call('createTicket')));
    expect(new Set(tickets.map(({ body }) => body.ticket)).size).toBe(3);
    for (const { body } of tickets) expect(Buffer.from(body.ticket, 'base64url')).toHaveLength(32);
  });
});
