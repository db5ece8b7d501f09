/**
 * The frames that a daemon can send, and the frames that make the relay close its connection (specification §6.4;
 * rules, 9.3).
 */
import { type Check, rule, specification } from '../check.ts';
import { oneOf } from '../expect.ts';

export const daemonFrames: readonly Check[] = [
  specification(
    '§6.4',
    'point 2 WebSocket ping',
    'the relay answers the WebSocket pings of a daemon',
    async (world) => {
      const daemon = await world.desk();
      await daemon.live.ping();
    },
  ),
  rule('13.1', 'a binary frame closes with 1003', async (world) => {
    const daemon = await world.open(await world.device('frames'));
    daemon.live.sendBytes(Buffer.from('{"type":"pong"}'), 'binary');
    await daemon.live.mustClose(1003, 'a binary frame');
  }),
  rule('13.1', 'a text frame that is not UTF-8 closes with 1007', async (world) => {
    const daemon = await world.open(await world.device('frames'));
    daemon.live.sendBytes(Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]), 'text');
    await daemon.live.mustClose(1007, 'invalid UTF-8');
  }),
  rule(
    '9.4',
    'the third frame that is no JSON object with a text type closes with 4400, the second does not',
    async (world) => {
      const daemon = await world.open(await world.device('frames'));
      daemon.live.send('this is not JSON');
      daemon.live.send('["type","status"]');
      await world.session({}, daemon);
      daemon.live.send('{"type":5}');
      await daemon.live.mustClose(4400, 'three malformed frames');
    },
  ),
  rule('1.1', 'unknown types and wrong fields of known types are ignored: nothing is closed', async (world) => {
    const daemon = await world.open(await world.device('frames'));
    const wrong = [
      { type: 'from_the_future', running_tasks: 5 },
      { type: 'status' },
      { type: 'status', running_tasks: 'all' },
      { type: 'report_sessions', sessions: { length: 3 } },
      { type: 'event' },
      { type: 'event', task_id: 'x', event_type: 'NEVER_HEARD_OF' },
      { type: 'event', task_id: {}, event_type: 'TASK_COMPLETE', result: 5 },
      { type: 'session_activity', session_id: 5 },
      { type: 'messages', request_id: 'never asked for', messages: 'none' },
      { type: '__proto__', running_tasks: [] },
      { type: 'constructor' },
    ];
    for (const frame of wrong) daemon.send(frame);
    daemon.live.send('{"type":"status","__proto__":{"running_tasks":["x"]},"constructor":1}');
    await world.session({}, daemon);
    await daemon.close();
  }),
  rule('9.3', 'more frames than the limit of 200/s with a burst of 1,000 allows close with 4429', async (world) => {
    const daemon = await world.open(await world.device('frames'));
    await world.session({}, daemon);
    for (let frame = 0; frame < 5000; frame += 1) daemon.send({ type: 'pong' });
    await daemon.live.mustClose(4429, 'five thousand frames at once');
  }),
  rule(
    '9.3',
    'a frame above 16 MiB closes with 1009',
    async (world) => {
      const daemon = await world.open(await world.device('frames'));
      daemon.live.send(JSON.stringify({ type: 'pong', padding: 'x'.repeat(16 * 1024 * 1024) }));
      await daemon.live.mustClose(1009, 'a frame that is too big', 60_000);
    },
    'slow',
  ),
];

/** Checks that wait for the relay's own clock: they come last, so that most of the time has passed already. */
export const keepalive: readonly Check[] = [
  specification(
    '§6.2',
    'ping',
    'the daemon is pinged within 30 s and its pong keeps the connection',
    async (world) => {
      const daemon = await world.desk();
      await daemon.inbox.until('ping', undefined, { withinMs: 35_000 });
      await world.session({}, daemon);
    },
    { also: ['§6.3 pong', '§6.4 point 1 ping and pong'] },
  ),
  rule(
    '9.11',
    'a daemon that says nothing is pinged again, and closed with 4408 after 75 s of silence',
    async (world) => {
      const daemon = await world.open(await world.device('silent'), { answerPings: false });
      await daemon.live.mustClose(4408, 'silence', 120_000);
      const pings = daemon.inbox.all('ping').length;
      oneOf(pings, [2, 3], 'pings within 75 s');
    },
    'slow',
  ),
];
