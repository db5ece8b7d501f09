import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { SparseMap } from '../src/sparse-map.ts';

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
