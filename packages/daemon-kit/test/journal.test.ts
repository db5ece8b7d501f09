import { afterEach, describe, expect, it } from '@jest/globals';
import { appendFileSync, mkdirSync, readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type FinalEvent, openJournal } from '../src/journal.ts';
import { manualClock } from './clocks.ts';
import { temporaryFolders } from '@relay/testing/folders';

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
  const clock = manualClock();
  return {
    troubles,
    clock,
    journal: openJournal({ file, ...options, clock, onTrouble: (what) => troubles.push(what) }),
  };
};
const newFile = () => join(folders.make(), 'tasks.jsonl');
/** A file that the disk refuses to change between `fail` and `heal`. */
const newDisk = () => {
  const folder = join(folders.make(), 'state');
  mkdirSync(folder);
  return {
    file: join(folder, 'tasks.jsonl'),
    fail: () => renameSync(folder, `${folder} that is away`),
    heal: () => renameSync(`${folder} that is away`, folder),
  };
};

describe('the journal', () => {
  it('keeps a result until it is settled, even after a restart, in the order of the results', () => {
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

  it('keeps the later result of a task even if an earlier one was delivered', () => {
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

  it('lists the tasks that a killed process left running, and their process', () => {
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

  it('drops the oldest results when too many wait, and reports that', () => {
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

  it('drops the oldest results when they grow too large, but never the newest', () => {
    const { journal } = open(newFile(), { maxOwedBytes: 3000 });
    for (const id of ['a', 'b', 'c']) journal.ended(complete(id, 'x'.repeat(1300)));
    expect(journal.owed().map(({ task_id }) => task_id)).toEqual(['b', 'c']);
    journal.ended(complete('d', 'x'.repeat(9000)));
    expect(journal.owed().map(({ task_id }) => task_id)).toEqual(['d']);
  });

  it('does not grow with the number of settled tasks', () => {
    const file = newFile();
    const { journal } = open(file);
    for (let index = 0; index < 600; index++) {
      journal.began(`t${index}`, 's');
      journal.settled([`t${index}`]);
    }
    expect(readFileSync(file, 'utf8').split('\n').length).toBeLessThan(600);
  });

  describe('after rows that the disk refused', () => {
    const refused = () => {
      const disk = newDisk();
      const opened = open(disk.file);
      const end = complete('a');
      opened.journal.began('a', 'sa');
      opened.journal.began('c', 'sc');
      disk.fail();
      opened.journal.ended(end);
      expect(opened.troubles).toEqual(['journal not written']);
      return { ...disk, ...opened, end };
    };

    it('saves them with the next row', () => {
      const { file, heal, journal, end } = refused();
      journal.delivered([end]);
      heal();
      journal.began('b', 'sb');
      const again = open(file).journal;
      expect(again.interrupted.map(({ taskId }) => taskId)).toEqual(['c', 'b']);
      expect(again.owed()).toEqual([]);
    });

    it('loses no row to the partial write of another', () => {
      const { file, heal, journal, end } = refused();
      heal();
      appendFileSync(file, '{"ended":{"type":"ev');
      journal.began('b', 'sb');
      const again = open(file).journal;
      expect(again.interrupted.map(({ taskId }) => taskId)).toEqual(['c', 'b']);
      expect(again.owed()).toEqual([end]);
    });

    it('saves them without another row, as soon as the disk accepts them', () => {
      const { file, heal, journal, end, clock, troubles } = refused();
      clock.advance(30_000);
      expect(troubles).toHaveLength(2);
      heal();
      clock.advance(30_000);
      expect(clock.waits()).toEqual([]);
      expect(open(file).journal.owed()).toEqual([end]);
      journal.began('b', 'sb');
      expect(readFileSync(file, 'utf8').trim().split('\n').at(-1)).toBe('{"began":"b","session_id":"sb"}');
    });

    it('saves them when it is closed, and leaves no timer', () => {
      const { file, heal, journal, end } = refused();
      heal();
      journal.close();
      expect(open(file).journal.owed()).toEqual([end]);
      const other = refused();
      other.journal.close();
      expect(other.clock.waits()).toEqual([]);
    });
  });

  it('can be read by its owner only', () => {
    const file = newFile();
    open(file).journal.began('a', 'sa');
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });
});
