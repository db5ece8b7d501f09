import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { slotOf } from '../src/redis/cluster/slots.ts';
import { RedisClock } from '../src/redis/clock.ts';
import { createKeys, idOf, partitionOf, partitions, timeOfOffset } from '../src/redis/keys.ts';
import { type WireRecord, decodeRecords, encodeRecord } from '../src/redis/wire.ts';

const decode = (text: string) => {
  const received: WireRecord[] = [];
  decodeRecords(text, (record) => received.push(record));
  return received;
};

/** Every kind as an instance or a script of any release writes it. */
const written: Record<WireRecord['kind'], [text: string, record: object]> = {
  command: [
    'c1,2,2,5,1,0,4:742g1api-1dbody',
    { fence: 7, deadline: 42, id: 'g1', from: 'api-1', device: 'd', correlation: '', body: 'body' },
  ],
  ack: ['k2:g1', { id: 'g1' }],
  nack: ['j2:g1', { id: 'g1' }],
  reply: ['r1,5:chello', { correlation: 'c', body: 'hello' }],
  keptReply: ['s1,4:c{3}k', { correlation: 'c', id: '{3}k' }],
  abandoned: ['x1:c', { correlation: 'c' }],
  evicted: ['e1,1,2:7dc1', { fence: 7, device: 'd', connection: 'c1' }],
  probe: ['p1:5', { id: '5' }],
  control: ['t2:{}', { body: '{}' }],
  frame: ['f2,2,4,2:o2o1{3}uhi', { offset: 'o2', previous: 'o1', id: '{3}u', body: 'hi' }],
  longFrame: ['F2,2,4,9999:o2o1{3}u', { offset: 'o2', previous: 'o1', id: '{3}u', bodyLength: 9999 }],
  hotFrame: ['h4,2:{3}uhi', { id: '{3}u', body: 'hi' }],
  longHotFrame: ['H4,2,2:{3}uhi42', { id: '{3}u', body: 'hi', until: 42 }],
  top: ['i2,4:o1{3}u', { offset: 'o1', id: '{3}u' }],
  brokenChain: ['g4:{3}u', { id: '{3}u' }],
};

describe('records', () => {
  it('survive a round trip with any content', () => {
    const field = fc.string({ unit: 'binary', maxLength: 40 });
    const one = fc.oneof(
      fc.record({ kind: fc.constant('reply' as const), correlation: field, body: field }),
      fc.record({ kind: fc.constant('hotFrame' as const), id: field, body: field }),
      fc.record({ kind: fc.constant('control' as const), body: field }),
    );
    // Through bytes, as over the network: half a pair of surrogates becomes something of the same length.
    const overNetwork = (text: string) => Buffer.from(text).toString();
    fc.assert(
      fc.property(fc.array(one, { maxLength: 10 }), (records) => {
        const text = records.map((record) => encodeRecord(record)).join('');
        const expected = records.map((record) =>
          Object.fromEntries(Object.entries(record).map(([key, value]) => [key, overNetwork(value)])),
        );
        expect(decode(overNetwork(text))).toEqual(expected);
      }),
    );
  });

  it.each(Object.entries(written))('of the kind %s keep their letter and their fields', (kind, [text, fields]) => {
    expect(decode(text)).toEqual([{ kind, ...fields }]);
  });

  it('of a kind that a newer release sends are skipped', () => {
    expect(decode('z3:newk2:g1')).toEqual([{ kind: 'ack', id: 'g1' }]);
  });

  it.each(['f', 'f3', 'f3:ab', 'f,3x:abc', 'hello', `f${'1'.repeat(200)}:`])('are not found in %s', (text) => {
    expect(() => decode(text)).toThrow(TypeError);
  });
});

describe('keys', () => {
  it('spread over all partitions and keep their place', () => {
    const counts = new Map<number, number>();
    for (let n = 0; n < 6_400; n++) {
      const partition = partitionOf(`user-${n}`);
      counts.set(partition, (counts.get(partition) ?? 0) + 1);
    }
    expect(counts.size).toBe(partitions);
    expect(Math.max(...counts.values())).toBeLessThan(200);
    expect([partitionOf('user'), partitionOf('device')]).toEqual([partitionOf('user'), partitionOf('device')]);
  });

  it('of one partition are in one slot, the one of Redis', () => {
    // The answers of CLUSTER KEYSLOT of Redis 7 for relay:l:{12}device and relay:u:{0}user.
    expect([slotOf(12), slotOf(0)]).toEqual([8373, 13907]);
    expect(idOf('device')).toBe(`{${partitionOf('device')}}device`);
  });

  it('refuse a prefix that would move them', () => {
    expect(() => createKeys('a{b}', true)).toThrow(TypeError);
    expect(() => createKeys('', true)).toThrow(TypeError);
  });
});

describe('the time in an offset', () => {
  it('is readable, and undefined for offsets of the previous release, which wrote no time', () => {
    expect(timeOfOffset(`1L2XCEX7p1XA.1z.${(1_795_648_664_931).toString(36)}7`)).toBe(1_795_648_664_931);
    expect(timeOfOffset('1L2XCEX7p1XA.1z.7')).toBeUndefined();
    expect(timeOfOffset('')).toBeUndefined();
  });
});

describe('the time of Redis', () => {
  it('is a range that holds it, and gets narrower with every quick answer', () => {
    const clock = new RedisClock();
    // Redis is 1000 ahead; the first question took 400 ms, the second 2 ms.
    clock.sample(0, 1_200, 400);
    expect([clock.earliest(500), clock.latest(500)]).toEqual([1_300, 1_701]);
    clock.sample(500, 1_501, 502);
    expect([clock.earliest(600), clock.latest(600)]).toEqual([1_599, 1_602]);
    clock.sample(700, 1_900, 3_000);
    expect(clock.earliest(600)).toBe(1_599);
  });

  it('discards samples after a minute, because clocks are set', () => {
    const clock = new RedisClock();
    clock.sample(0, 1_000_000, 1);
    clock.sample(40_000, 41_000, 40_001);
    clock.sample(80_000, 81_000, 80_001);
    expect(clock.earliest(80_001)).toBe(81_000);
  });
});
