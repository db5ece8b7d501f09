/** The comparison of stories detects each planted fault. */
import { afterAll, expect, it } from '@jest/globals';
import type { Item, Operation } from '@relay/protocol';
import { type Fault, foldersOf, play } from './stage.ts';
import { type Step, storyOf } from './story.ts';

const folders = foldersOf();
afterAll(() => folders.remove());

const isText = ({ part }: Item) => part.kind === 'text';
const isUpdate = (step: Step, kind: string) => step.do === 'update' && step.update.sessionUpdate === kind;
const set = (ops: readonly Operation[], from: string, to: string): Operation[] =>
  ops.map((op) => (op.op === 'set' && op.part.status === from ? { ...op, part: { ...op.part, status: to } } : op));

const faults: [string, () => Fault][] = [
  ['a dropped update of the agent', () => ({ step: (step) => (isUpdate(step, 'agent_message_chunk') ? [] : [step]) })],
  ['a doubled chunk', () => ({ step: (step) => (isUpdate(step, 'agent_message_chunk') ? [step, step] : [step]) })],
  ['a rejected call that reads as run', () => ({ ops: (ops) => set(ops, 'rejected', 'completed') })],
  ['a call without a report that reads as run', () => ({ ops: (ops) => set(ops, 'unknown', 'completed') })],
  ['a failed call that reads as run', () => ({ ops: (ops) => set(ops, 'failed', 'completed') })],
  ['a dropped operation', () => ({ ops: (ops) => ops.filter(({ op }) => op !== 'add') })],
  [
    'a description that is shown as output',
    () => ({
      ops: (ops) =>
        ops.map((op) =>
          op.op === 'put' && typeof op.item.part.about === 'string'
            ? { ...op, item: { ...op.item, part: { ...op.item.part, output: op.item.part.about } } }
            : op,
        ),
    }),
  ],
  ['a lost item of a page', () => ({ page: (items) => items.filter((item) => !isText(item)) })],
  [
    'a text that is twice on a page',
    () => ({ page: (items) => items.flatMap((item) => (isText(item) ? [item, item] : [item])) }),
  ],
  ['another order', () => ({ page: (items) => items.toReversed() })],
  [
    'another uuid for the same text',
    () => ({
      page: (items) => items.map((item) => (isText(item) ? { ...item, uuid: `${item.uuid}-2` } : item)),
    }),
  ],
  [
    'an end of a call that comes as a new call',
    () => ({
      step: (step) =>
        step.do === 'update' && step.update.status === 'completed'
          ? [{ ...step, update: { ...step.update, toolCallId: 'another' } }]
          : [step],
    }),
  ],
];

/** A difference that `play` reports. An error of the stage fails the test instead. */
const difference = /^(?:live|reloaded|restarted|said)\b/;

it.each(faults)('rules 20.9: detects %s within 60 stories', async (_name, fault) => {
  let found: string | undefined;
  for (let seed = 1; seed <= 60 && found === undefined; seed++)
    found = await play(storyOf(seed), folders.root, fault());
  expect(found).toMatch(difference);
});
