import { afterEach, describe, expect, it } from '@jest/globals';
import { appendFileSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type FinalEvent, openJournal } from '../src/journal.ts';
import { temporaryFolders } from './folders.ts';

const folders = temporaryFolders();
afterEach(() => folders.remove());

const complete = (taskId: string, result = 'done'): FinalEvent => ({
  type: 'event',
  event_type: 'TASK_COMPLETE',
  task_id: taskId,
  session_id: `session of ${taskId}`,
  result,
});
const open = (file: string, options: { maxOwed?: number; maxOwedBytes?: number } = {}) => {
  const troubles: string[] = [];
  return { troubles, journal: openJournal({ file, ...options, onTrouble: (what) => troubles.push(what) }) };
};
const newFile = () => join(folders.make(), 'tasks.jsonl');

describe('the journal', () => {
  it('owes an end until it is settled, also after a restart, in the order of the ends', () => {
    const file = newFile();
    const { journal } = open(file);
    journal.began('a', 'sa');
    journal.began('b', 'sb');
    journal.ended(complete('b'));
    journal.ended(complete('a'));
    expect(open(file).journal.owed()).toEqual([complete('b'), complete('a')]);
    journal.settled(['b']);
    expect(open(file).journal.owed()).toEqual([complete('a')]);
    journal.settled(['a']);
    expect(open(file).journal.owed()).toEqual([]);
  });

  it('owes the later end of a task although an earlier one is delivered', () => {
    const file = newFile();
    const { journal } = open(file);
    const [first, second] = [complete('a', 'asked'), complete('a', 'asked again')];
    journal.ended(first);
    journal.ended(second);
    expect(journal.delivered([first])).toEqual([]);
    expect(open(file).journal.owed()).toEqual([second]);
    expect(journal.delivered([second])).toEqual(['a']);
    expect(open(file).journal.owed()).toEqual([]);
  });

  it('knows which tasks a killed process left running, and their process', () => {
    const file = newFile();
    const { journal } = open(file);
    journal.began('a', 'sa');
    journal.process('a', 4711);
    journal.began('b', 'sb');
    journal.began('c', 'sc');
    journal.settled(['c']);
    expect(open(file).journal.interrupted).toEqual([
      { taskId: 'a', sessionId: 'sa', pid: 4711 },
      { taskId: 'b', sessionId: 'sb' },
    ]);
  });

  it('skips an incomplete line', () => {
    const file = newFile();
    open(file).journal.ended(complete('a'));
    appendFileSync(file, '{"ended":{"type":"ev');
    const { journal } = open(file);
    journal.ended(complete('b'));
    expect(
      open(file)
        .journal.owed()
        .map(({ task_id }) => task_id),
    ).toEqual(['a', 'b']);
  });

  it('drops the oldest ends when too many wait, and says so', () => {
    const file = newFile();
    const { journal, troubles } = open(file, { maxOwed: 2 });
    for (const id of ['a', 'b', 'c']) journal.ended(complete(id));
    expect(journal.owed().map(({ task_id }) => task_id)).toEqual(['b', 'c']);
    expect(
      open(file)
        .journal.owed()
        .map(({ task_id }) => task_id),
    ).toEqual(['b', 'c']);
    expect(troubles).toEqual(['undelivered results dropped']);
  });

  it('drops the oldest ends when they grow too large, but never the newest', () => {
    const { journal } = open(newFile(), { maxOwedBytes: 3000 });
    for (const id of ['a', 'b', 'c']) journal.ended(complete(id, 'x'.repeat(1300)));
    expect(journal.owed().map(({ task_id }) => task_id)).toEqual(['b', 'c']);
    journal.ended(complete('d', 'x'.repeat(9000)));
    expect(journal.owed().map(({ task_id }) => task_id)).toEqual(['d']);
  });

  it('does not grow with the number of tasks that came and went', () => {
    const file = newFile();
    const { journal } = open(file);
    for (let index = 0; index < 600; index++) {
      journal.began(`t${index}`, 's');
      journal.settled([`t${index}`]);
    }
    expect(readFileSync(file, 'utf8').split('\n').length).toBeLessThan(600);
  });

  it('belongs to its owner alone', () => {
    const file = newFile();
    open(file).journal.began('a', 'sa');
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });
});
