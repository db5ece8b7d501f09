import { describe, expect, it } from '@jest/globals';
import { gathered } from '../src/gather.ts';

/** Asks that the test answers. */
function openQuestions() {
  const asked: {
    ids: readonly string[];
    answer: (answers: Map<string, string>) => void;
    fail: (error: Error) => void;
  }[] = [];
  let heard: (() => void) | undefined;
  const about = gathered<string>(
    (ids) =>
      new Promise((answer, fail) => {
        asked.push({ ids, answer, fail });
        heard?.();
      }),
  );
  const next = async (n: number) => {
    while (asked.length <= n) await new Promise<void>((resolve) => (heard = resolve));
    return asked[n]!;
  };
  return { about, next, asked };
}

describe('questions about devices', () => {
  it('of one turn are one question, and each gets its own answer', async () => {
    const { about, next } = openQuestions();
    const answers = Promise.all([about('a'), about('b'), about('a'), about('c')]);
    const question = await next(0);
    expect(question.ids).toEqual(['a', 'b', 'c']);
    question.answer(new Map([['a', 'of a'], ['b', 'of b']])); // prettier-ignore
    expect(await answers).toEqual(['of a', 'of b', 'of a', undefined]);
  });

  it('that come while two are under way wait, and go together', async () => {
    const { about, next, asked } = openQuestions();
    const first = about('a');
    const one = await next(0);
    const second = about('b');
    await next(1);
    const rest = Promise.all([about('c'), about('d')]);
    one.answer(new Map([['a', 'of a']]));
    expect(await first).toBe('of a');
    const third = await next(2);
    expect([asked.length, third.ids]).toEqual([3, ['c', 'd']]);
    third.answer(new Map());
    asked[1]!.answer(new Map());
    expect([await second, await rest]).toEqual([undefined, [undefined, undefined]]);
  });

  it('that fail reject every caller, and the next ones are asked again', async () => {
    const { about, next } = openQuestions();
    const both = Promise.allSettled([about('a'), about('b')]);
    (await next(0)).fail(new Error('the database is away'));
    expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    const again = about('a');
    (await next(1)).answer(new Map([['a', 'of a']]));
    expect(await again).toBe('of a');
  });
});
