import { expect, it } from '@jest/globals';
import { createOpenQuestions } from '../src/agents/acp/open-questions.ts';
import type { AgentQuestion } from '../src/agents/acp/questions.ts';
import type { ActiveTurn } from '../src/agents/acp/turn.ts';

/** A turn whose shown questions are collected. */
function openTurn() {
  const shown: unknown[] = [];
  const active = {
    attached: true,
    narrator: { takeText: () => '' },
    report: { wait: (question: unknown) => shown.push(question) },
    release: () => undefined,
  } as unknown as ActiveTurn;
  const questions = createOpenQuestions({
    turn: () => active,
    requestEnd: () => undefined,
    clock: { now: () => 0, after: () => () => undefined },
    questionMs: 1000,
  });
  return { shown, questions };
}
const asking = { cancelled: 'cancelled', question: () => ({}) } as unknown as AgentQuestion<string>;

it('a question that the agent cancelled before it arrived is never open', async () => {
  const { shown, questions } = openTurn();
  expect(await questions.ask(asking, AbortSignal.abort())).toBe('cancelled');
  expect(questions.any()).toBe(false);
  expect(shown).toEqual([]);
});

it('a question is open until the agent cancels it', async () => {
  const { shown, questions } = openTurn();
  const cancelling = new AbortController();
  const answer = questions.ask(asking, cancelling.signal);
  expect(questions.any()).toBe(true);
  expect(shown).toHaveLength(1);
  cancelling.abort();
  expect(await answer).toBe('cancelled');
  expect(questions.any()).toBe(false);
});
