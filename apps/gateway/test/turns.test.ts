import { describe, expect, it } from '@jest/globals';
import { createLane } from '@relay/database';
import { inTurns } from '../src/door/turns.ts';

interface Input {
  deviceId: string;
  n: number;
}

/** Statements that complete under the test's control. */
function openStatements(lane = createLane()) {
  const sent: {
    inputs: readonly Input[];
    answer: (answers: Map<string, string>) => void;
    fail: (error: Error) => void;
  }[] = [];
  const alone: Input[] = [];
  let heard: (() => void) | undefined;
  const act = inTurns<Input, string>(
    lane,
    (inputs) =>
      new Promise((answer, fail) => {
        sent.push({ inputs, answer, fail });
        heard?.();
      }),
    (input) => {
      alone.push(input);
      return Promise.resolve(`alone ${input.n}`);
    },
  );
  const next = async (n: number) => {
    while (sent.length <= n) await new Promise<void>((resolve) => (heard = resolve));
    return sent[n]!;
  };
  return { act: (deviceId: string, n: number) => act({ deviceId, n }), next, sent, alone };
}

const all = (inputs: readonly Input[]) => new Map(inputs.map(({ deviceId, n }) => [deviceId, `together ${n}`]));

describe('work for devices', () => {
  it('of one turn is one statement, and each gets its own answer', async () => {
    const { act, next, sent } = openStatements();
    const answers = Promise.all([act('a', 1), act('b', 2)]);
    const statement = await next(0);
    expect(statement.inputs).toEqual([{ deviceId: 'a', n: 1 }, { deviceId: 'b', n: 2 }]); // prettier-ignore
    statement.answer(all(statement.inputs));
    expect(await answers).toEqual(['together 1', 'together 2']);
    expect(sent).toHaveLength(1);
  });

  it('that comes while a statement is under way waits, and goes together', async () => {
    const { act, next, sent } = openStatements();
    const first = act('a', 1);
    const one = await next(0);
    const rest = Promise.all([act('b', 2), act('c', 3)]);
    one.answer(all(one.inputs));
    expect(await first).toBe('together 1');
    const two = await next(1);
    expect(two.inputs.map(({ n }) => n)).toEqual([2, 3]);
    two.answer(all(two.inputs));
    expect(await rest).toEqual(['together 2', 'together 3']);
    expect(sent).toHaveLength(2);
  });

  it('names no device twice in one statement, and keeps the order of each', async () => {
    const { act, next } = openStatements();
    const answers = Promise.all([act('a', 1), act('a', 2), act('b', 3), act('a', 4)]);
    const asked: number[][] = [];
    for (let n = 0; n < 3; n += 1) {
      const statement = await next(n);
      asked.push(statement.inputs.map((input) => input.n));
      statement.answer(all(statement.inputs));
    }
    expect(asked).toEqual([[1, 3], [2], [4]]);
    expect(await answers).toEqual(['together 1', 'together 2', 'together 3', 'together 4']);
  });

  it('is a hundred devices at most in one statement', async () => {
    const { act, next } = openStatements();
    const answers = Promise.all(Array.from({ length: 150 }, (_, n) => act(`device-${n}`, n)));
    const first = await next(0);
    first.answer(all(first.inputs));
    const second = await next(1);
    second.answer(all(second.inputs));
    expect([first.inputs.length, second.inputs.length]).toEqual([100, 50]);
    expect((await answers)[149]).toBe('together 149');
  });

  it('skipped by the statement runs alone, without delaying the next', async () => {
    const { act, next, alone } = openStatements();
    const answers = Promise.all([act('a', 1), act('locked', 2)]);
    const statement = await next(0);
    statement.answer(new Map([['a', 'together 1']]));
    expect(await answers).toEqual(['together 1', 'alone 2']);
    expect(alone).toEqual([{ deviceId: 'locked', n: 2 }]);
  });

  it('fails together, and the next is tried again', async () => {
    const { act, next } = openStatements();
    const both = Promise.allSettled([act('a', 1), act('b', 2)]);
    (await next(0)).fail(new Error('the database is away'));
    expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    const again = act('a', 3);
    const statement = await next(1);
    statement.answer(all(statement.inputs));
    expect(await again).toBe('together 3');
  });

  it('of two kinds is never under way at the same time in one lane', async () => {
    const lane = createLane();
    const begins = openStatements(lane);
    const ends = openStatements(lane);
    const end = ends.act('a', 1);
    const ending = await ends.next(0);
    const begin = begins.act('a', 2);
    const later = ends.act('b', 3);
    expect(begins.sent).toHaveLength(0);
    ending.answer(all(ending.inputs));
    expect(await end).toBe('together 1');
    const beginning = await begins.next(0);
    expect(ends.sent).toHaveLength(1);
    beginning.answer(all(beginning.inputs));
    expect(await begin).toBe('together 2');
    const last = await ends.next(1);
    last.answer(all(last.inputs));
    expect(await later).toBe('together 3');
  });
});
