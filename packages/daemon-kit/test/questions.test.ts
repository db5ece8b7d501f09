/** Whether a question of a session can be answered, and how long a late answer is refused. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openQuestions } from '../src/questions.ts';
import { temporaryFolders } from '@relay/testing/folders';

const folders = temporaryFolders();
afterEach(() => folders.remove());

function begin(file = join(folders.make(), 'questions.json')) {
  let now = 1_000_000;
  const trouble: string[] = [];
  const open = () => openQuestions({ file, clock: { now: () => now }, onTrouble: (what) => trouble.push(what) });
  return { file, open, trouble, wait: (ms: number) => (now += ms) };
}
const question = { taskId: 't1', prompt: 'Run it?', labels: ['Yes', 'No'] };

describe('a closed question', () => {
  it('A5: refuses its labels and their numbers for an hour, even after a restart, but no other texts', () => {
    const { file, open, wait } = begin();
    const before = open();
    before.opened('s', question);
    expect(before.refusal('s', 'Yes')).toBeUndefined();
    before.gone('s', 'it is late.');
    before.gone('s', 'only the first reason counts.');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const after = open();
    for (const words of ['Yes', ' yes ', '2']) {
      expect(after.refusal('s', words)).toMatch(/^“Run it\?” can no longer be answered: it is late\. /);
    }
    expect([after.refusal('s', 'Yes, please'), after.refusal('s', '3'), after.refusal('other', 'Yes')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    wait(3_600_001);
    expect(after.refusal('s', 'Yes')).toBeUndefined();
  });

  it('is forgotten after another message', () => {
    const questions = begin().open();
    questions.opened('s', question);
    questions.gone('s', 'it is late.');
    questions.forget('s');
    expect(questions.refusal('s', 'Yes')).toBeUndefined();
    expect(questions.waiting()).toEqual([]);
  });

  it('A4: is replaced by one that accepts no answer before the relay has received it', () => {
    const questions = begin().open();
    questions.opened('s', question);
    questions.gone('s', 'it was taken back.');
    questions.opened('s', { ...question, prompt: 'Run two?' });
    expect(questions.refusal('s', 'whatever')).toBe(
      'The agent has asked another question since. Answer that one instead.',
    );
    questions.confirmed('t1');
    expect(questions.refusal('s', 'Yes')).toBeUndefined();
    expect(questions.waiting()).toEqual([{ sessionId: 's', taskId: 't1' }]);
    questions.over('t1');
    expect(questions.waiting()).toEqual([]);
  });
});

describe('the file of the questions', () => {
  it.each(['{', '{}', '[1, ["s"], ["s", {"taskId": 1}], ["s", null]]'])('is ignored if it contains %s', (text) => {
    const { file, open } = begin();
    writeFileSync(file, text);
    expect(open().waiting()).toEqual([]);
  });

  it('keeps the newest 500 sessions', () => {
    const { open } = begin();
    const questions = open();
    for (let n = 0; n <= 500; n++) questions.opened(`s${n}`, { ...question, taskId: `t${n}` });
    const kept = open().waiting();
    expect(kept).toHaveLength(500);
    expect(kept[0]).toEqual({ sessionId: 's1', taskId: 't1' });
  });

  it('causes only a warning if it cannot be written', () => {
    const { open, trouble } = begin(join(folders.make(), 'no', 'such', 'folder', 'questions.json'));
    open().opened('s', question);
    expect(trouble).toEqual(['questions not written']);
  });
});
