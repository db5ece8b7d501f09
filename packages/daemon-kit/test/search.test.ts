import { afterEach, expect, it } from '@jest/globals';
import { house, playing } from './house.ts';

const home = house();
afterEach(() => home.clear());

it('D4: a daemon searches all its transcripts, the newest session and message first', async () => {
  const relay = await home.relay();
  home.daemon(relay, playing([{ type: 'complete', text: 'You want: {message}' }]));
  const connection = await relay.connection();
  const say = async (taskId: string, message: string, sessionId?: string) => {
    connection.send(
      sessionId === undefined
        ? { type: 'task_start', task_id: taskId, instruction: message }
        : { type: 'task_resume', task_id: taskId, session_id: sessionId, message },
    );
    return (await connection.event('TASK_COMPLETE', taskId)).session_id ?? '';
  };
  const search = async (query: string) => {
    connection.send({ type: 'search_request', request_id: query, query });
    const { hits = [], more, error } = await connection.frame('search_response');
    expect([more, error]).toEqual([undefined, undefined]);
    return hits!.map(({ session_id: sessionId, role, text }) => [sessionId, role, text]);
  };
  const garden = await say('t1', `${'weeds '.repeat(100)}Über den Rosen`);
  await say('t2', 'the hedge', garden);
  const shed = await say('t3', 'ROSEN in the shed');
  const around = /^….{60}Über den Rosen$/;
  expect(await search('rosen')).toEqual([
    [shed, 'AGENT', 'You want: ROSEN in the shed'],
    [shed, 'USER', 'ROSEN in the shed'],
    [garden, 'AGENT', expect.stringMatching(/Über den Rosen$/)],
    [garden, 'USER', expect.stringMatching(/^….*Über den Rosen$/)],
  ]);
  // In this query, the accent is a separate character.
  expect(await search('rosen u\u0308ber')).toEqual([
    [garden, 'AGENT', expect.stringMatching(around)],
    [garden, 'USER', expect.stringMatching(around)],
  ]);
  expect(await search('rosen hedge')).toEqual([]);
});
