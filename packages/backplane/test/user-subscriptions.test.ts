/** Long frames and lost connections: the message after the record of a long frame is not always its body. */
import { expect, it } from '@jest/globals';
import { createKeys, idOf } from '../src/redis/keys.ts';
import type { Run } from '../src/redis/operations.ts';
import type { Topology } from '../src/redis/topology.ts';
import { UserSubscriptions } from '../src/redis/user-subscriptions.ts';
import { decodeRecords, encodeRecord } from '../src/redis/wire.ts';

const shared = 'the channel of this instance';
const body = JSON.stringify({ type: 'new_message', text: 'for Ann alone, and long. '.repeat(50) });

async function open() {
  const subscriptions = new UserSubscriptions({
    instance: 'api',
    topology: { subscribe: () => Promise.resolve(), unsubscribe: () => Promise.resolve() } as unknown as Topology,
    keys: createKeys('test', false),
    timeoutMs: 1_000,
    redisTime: () => 0,
    run: (() => Promise.resolve(1)) as unknown as Run,
    onError: (error) => {
      throw error;
    },
  });
  const heard: string[] = [];
  for (const user of ['Ann', 'Ben'])
    await subscriptions.subscribe(user, {
      listener: ({ body }) => heard.push(`${user}: ${body}`),
      onInterrupted: undefined,
    });
  const receive = (text: string) => {
    if (!subscriptions.receiveBody(shared, text))
      decodeRecords(text, (record) => void subscriptions.receive(shared, record));
  };
  return { subscriptions, heard, receive };
}

const longRecord = (id: string, length: number) => `F1,1,${id.length},${length}:21${id}`;
const frameFor = (user: string, text: string) =>
  encodeRecord({ kind: 'frame', offset: '2', previous: '1', id: idOf(user), body: text });

it('takes the message after the record as the body of a long frame', async () => {
  const { heard, receive } = await open();
  receive(longRecord(idOf('Ann'), body.length));
  receive(body);
  receive(frameFor('Ben', 'hello'));
  expect(heard).toEqual([`Ann: ${body}`, 'Ben: hello']);
});

it('drops the body if the next message has another length, and delivers that message', async () => {
  const { heard, receive } = await open();
  receive(longRecord(idOf('Ann'), body.length));
  receive(frameFor('Ben', 'hello'));
  receive(frameFor('Ann', 'later'));
  expect(heard).toEqual(['Ben: hello', 'Ann: later']);
});

it('nothing that comes over the next connection is the body of a frame whose record came over the last', async () => {
  const { subscriptions, heard, receive } = await open();
  const frame = frameFor('Ben', 'hello');
  receive(longRecord(idOf('Ann'), frame.length));
  subscriptions.onLost([shared]);
  receive(frame);
  expect(heard).toEqual(['Ben: hello']);
});
