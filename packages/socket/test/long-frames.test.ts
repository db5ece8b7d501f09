import { describe, expect, it } from '@jest/globals';
import { LongFrames } from '../src/long-frames.ts';

/** A budget of 100, and the names of the frames that have begun. */
const openBudget = () => {
  const frames = new LongFrames(100);
  const begun: string[] = [];
  return {
    begun: async () => {
      await Promise.resolve();
      return begun.splice(0);
    },
    begin: (name: string, bytes: number, payer: string) => void frames.begin(bytes, payer).then(() => begun.push(name)),
    end: (bytes: number, payer: string) => frames.end(bytes, payer),
  };
};

describe('long frames', () => {
  it('begin in the order of asking, as many as the budget holds; one above it is in work alone', async () => {
    const { begin, begun, end } = openBudget();
    begin('a', 60, 'alice');
    begin('b', 60, 'bob');
    begin('c', 30, 'carol');
    expect(await begun()).toEqual(['a']);
    end(60, 'alice');
    expect(await begun()).toEqual(['b', 'c']);
    begin('d', 500, 'dave');
    end(60, 'bob');
    expect(await begun()).toEqual([]);
    end(30, 'carol');
    expect(await begun()).toEqual(['d']);
  });

  it("of one person leave room for other people's, which overtake that person's waiting frames", async () => {
    const { begin, begun, end } = openBudget();
    for (const name of ['1', '2', '3', '4', '5']) begin(name, 25, 'mallory');
    expect(await begun()).toEqual(['1', '2', '3']);
    begin('v', 20, 'victor');
    expect(await begun()).toEqual(['v']);
    end(25, 'mallory');
    // 50 are of mallory and 20 of victor: another one would leave less than a quarter.
    expect(await begun()).toEqual([]);
    end(20, 'victor');
    expect(await begun()).toEqual(['4']);
  });

  it('of a person without frames in work are not overtaken by shorter ones', async () => {
    const { begin, begun, end } = openBudget();
    begin('1', 70, 'mallory');
    begin('v', 40, 'victor');
    begin('2', 1, 'mallory');
    begin('w', 1, 'walter');
    expect(await begun()).toEqual(['1']);
    end(70, 'mallory');
    expect(await begun()).toEqual(['v', '2', 'w']);
  });
});
