import { afterEach, describe, expect, it } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { demoScriptFile, readScript, scriptedAgent } from '../src/index.ts';
import { parseScript } from '@relay/daemon-kit';
import { house, playing } from './house.ts';

const home = house();
afterEach(() => home.clear());

describe('a script', () => {
  it.each<[string, unknown, string]>([
    ['that is not an object', [], '"turns" must be a list'],
    ['without turns', { turns: [] }, 'at least one turn'],
    ['with a text as a turn', { turns: ['x'] }, 'turns[0] must be a list of steps'],
    ['with an empty turn', { turns: [[]] }, 'turns[0].steps'],
    [
      'with an unknown step',
      { turns: [[{ type: 'dance' }]] },
      'turns[0].steps[0].type must be one of progress, output',
    ],
    ['with a step named like a method', { turns: [[{ type: 'toString' }]] }, 'turns[0].steps[0].type'],
    [
      'with a missing field',
      { turns: [[{ type: 'say', text: 'x' }, { type: 'error' }]] },
      'turns[0].steps[1].error must be a text',
    ],
    ['with a wrong delay', { turns: [[{ type: 'delay', ms: -1 }]] }, 'turns[0].steps[0].ms must be a number'],
    [
      'with wrong options',
      { turns: [[{ type: 'wait', prompt: 'x', options: [1] }]] },
      'options must be a list of texts',
    ],
    [
      'with a broken expression',
      { turns: [{ match: '(', steps: [{ type: 'hang' }] }] },
      'turns[0].match is not a regular expression',
    ],
  ])('%s is refused with the place of the error', (_name, value, words) => {
    expect(() => parseScript(value)).toThrow(words);
  });

  it('that is missing or not JSON is a failure that names the file', () => {
    const folder = home.folder();
    const broken = join(folder, 'broken script.json');
    writeFileSync(broken, '{');
    for (const file of [broken, join(folder, 'missing.json'), folder]) {
      expect(() => readScript(file)).toThrow(file);
    }
  });

  it('plays turns without match in a cycle, and turns with match whenever they fit', async () => {
    const relay = await home.relay();
    home.daemon(
      relay,
      playing(
        [{ type: 'complete', text: 'A' }],
        {
          match: '^special',
          steps: [
            { type: 'say', text: 'one' },
            { type: 'say', text: 'two' },
          ],
        },
        [{ type: 'complete', text: 'B' }],
      ),
    );
    const connection = await relay.connection();
    connection.send({ type: 'task_start', task_id: 't0', instruction: 'x' });
    const first = await connection.event('TASK_COMPLETE', 't0');
    const answers = [first.result];
    for (const [index, message] of ['SPECIAL one', 'x', 'x'].entries()) {
      connection.send({ type: 'task_resume', task_id: `r${index}`, session_id: first.session_id ?? '', message });
      answers.push((await connection.event('TASK_COMPLETE', `r${index}`)).result);
    }
    expect(answers).toEqual(['A', 'one\n\ntwo', 'B', 'A']);
  });

  it('for demonstrations is built in, and asks, fails and crashes on request', async () => {
    const relay = await home.relay();
    home.daemon(relay, scriptedAgent(readScript(demoScriptFile)));
    const connection = await relay.connection();
    for (const [taskId, message, end] of [
      ['t1', 'hello', 'TASK_COMPLETE'],
      ['t2', 'ask me', 'WAIT_FOR_USER'],
      ['t3', 'fail please', 'ERROR'],
      ['t4', 'crash please', 'ERROR'],
    ] as const) {
      connection.send({ type: 'task_start', task_id: taskId, instruction: message });
      await connection.event(end, taskId);
    }
  });
});
