import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { BoundedMap, SparseMap } from '../src/connection/sparse-map.ts';

describe('a sparse map', () => {
  it('acts like a Map, for any operations', () => {
    const key = fc.integer({ min: 0, max: 4 });
    const step = fc.oneof(
      fc.record({ do: fc.constant('set' as const), key, value: fc.integer() }),
      fc.record({ do: fc.constant('delete' as const), key }),
      fc.record({ do: fc.constant('clear' as const) }),
    );
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const [sparse, map] = [new SparseMap<number, number>(), new Map<number, number>()];
        for (const one of steps) {
          for (const either of [sparse, map]) {
            if (one.do === 'set') either.set(one.key, one.value);
            else if (one.do === 'delete') either.delete(one.key);
            else either.clear();
          }
          expect([...sparse]).toEqual([...map]);
          expect([...sparse.keys()]).toEqual([...map.keys()]);
          expect([...sparse.values()]).toEqual([...map.values()]);
          expect([sparse.size, sparse.get(0), sparse.has(0)]).toEqual([map.size, map.get(0), map.has(0)]);
        }
      }),
    );
  });

  it('can be emptied during iteration', () => {
    const sparse = new SparseMap<number, string>();
    sparse.set(1, 'one');
    sparse.set(2, 'two');
    const seen: number[] = [];
    for (const [key] of sparse) {
      seen.push(key);
      sparse.delete(key);
    }
    expect([seen, sparse.size]).toEqual([[1, 2], 0]);
  });
});

describe('a bounded map', () => {
  it('forgets everything when a new key exceeds its limit, and keeps it when a value is replaced', () => {
    const bounded = new BoundedMap<number, string>(2);
    bounded.set(1, 'one');
    bounded.set(2, 'two');
    bounded.set(2, 'zwei');
    expect([...bounded]).toEqual([
      [1, 'one'],
      [2, 'zwei'],
    ]);
    bounded.set(3, 'three');
    expect([...bounded]).toEqual([[3, 'three']]);
  });
});
