import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { RedisClock } from '../src/redis/clock.ts';
import { createNames, partitionOf, partitions, slotOf, tagged } from '../src/redis/names.ts';
import { readRecords, record } from '../src/redis/records.ts';

const read = (text: string) => {
  const heard: [string, ...string[]][] = [];
  readRecords(text, (kind, fields) => heard.push([kind, ...fields]));
  return heard;
};

describe('records', () => {
  it('come out as they went in, whatever is in them', () => {
    const field = fc.string({ unit: 'binary', maxLength: 40 });
    const one = fc.tuple(fc.constantFrom('a', 'z', 'f'), fc.array(field, { minLength: 1, maxLength: 7 }));
    fc.assert(
      fc.property(fc.array(one, { maxLength: 10 }), (records) => {
        const text = records.map(([kind, fields]) => record(kind, ...fields)).join('');
        // Through bytes, as over the network: half a pair of surrogates becomes something of the same length.
        const arrived = Buffer.from(text).toString();
        const wellFormed = (part: string) => Buffer.from(part).toString();
        const expected = records.map(([kind, fields]) => [kind, ...fields.map(wellFormed)]);
        expect(read(arrived)).toEqual(expected);
      }),
    );
  });

  it.each(['f', 'f3', 'f3:ab', 'f,3x:abc', 'hello', `f${'1'.repeat(200)}:`])('are not found in %s', (text) => {
    expect(() => read(text)).toThrow(TypeError);
  });
});

describe('names', () => {
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
    // What CLUSTER KEYSLOT of Redis 7 says of relay:l:{12}device and relay:u:{0}user.
    expect([slotOf(12), slotOf(0)]).toEqual([8373, 13907]);
    expect(tagged(12, 'device')).toBe('{12}device');
  });

  it('refuse a prefix that would move them', () => {
    expect(() => createNames('a{b}', true)).toThrow(TypeError);
    expect(() => createNames('', true)).toThrow(TypeError);
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

  it('forgets what it learned a minute ago, because clocks are set', () => {
    const clock = new RedisClock();
    clock.sample(0, 1_000_000, 1);
    clock.sample(40_000, 41_000, 40_001);
    clock.sample(80_000, 81_000, 80_001);
    expect(clock.earliest(80_001)).toBe(81_000);
  });
});
