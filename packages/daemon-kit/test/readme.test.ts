/** Runs the example of README.md exactly as printed. */
import { afterEach, describe, expect, it } from '@jest/globals';
import type { Item } from '@relay/protocol';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Agent } from '../src/index.ts';
import { house } from './house.ts';

const home = house();
afterEach(() => home.clear());

describe('the agent of README.md', () => {
  it('has its text, its call and its question as items, and gets the answer to its question', async () => {
    const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');
    const program = /```js\n(\/\/ agent\.mjs\n[\s\S]*?)```/.exec(readme)?.[1];
    const file = join(home.folder(), 'agent.mjs');
    writeFileSync(file, program ?? '');
    const { agent } = (await import(pathToFileURL(file).href)) as { agent: Agent };
    const relay = await home.relay({ declares: ['transcript', 'prompts'] });
    home.daemon(relay, agent);
    const connection = await relay.connection();
    connection.send({ type: 'task_start', task_id: 't1', instruction: 'Go' });
    const { session_id: session, question } = await connection.event('WAIT_FOR_USER', 't1');
    expect(question).toMatchObject({ title: 'Run the tests?', subject: { type: 'command', command: 'npm test' } });
    const answer = { option_id: 'yes', prompt_uuid: question!.uuid, digest: question!.digest };
    connection.send({ type: 'task_resume', task_id: 't2', session_id: session, message: 'Run them', ...answer });
    await connection.event('TASK_COMPLETE', 't2');
    connection.send({ type: 'get_messages', request_id: 'r', session_id: session, limit: 50, parts: true });
    const items = ((await connection.frame('messages')).messages ?? []) as Item[];
    expect(items.map(({ part, content }) => [part.kind, content])).toEqual([
      ['user', 'Go'],
      ['text', 'I changed the parser.'],
      ['question', 'Run the tests?'],
      ['user', 'Run them'],
      ['tool', 'npm test'],
      ['text', 'All tests pass.'],
    ]);
    expect(items[4]!.part).toMatchObject({ status: 'completed', output: '42 passed' });
  });
});
