/** The files that apps can read: the capability and the answers of the daemon (rules, 25.1, 25.5, 25.7). */
import { afterEach, describe, expect, it } from '@jest/globals';
import { FilesRefused, type Workspace } from '@relay/daemon-kit';
import { filesOf, filesSentence } from '../src/commands/place-options.ts';
import { house, playing } from './house.ts';

const home = house();
afterEach(() => home.clear());

describe('a daemon that shares files', () => {
  it("declares the capability, marks the files before a turn starts, and answers with the request's id", async () => {
    const seen: string[] = [];
    const workspace: Workspace = {
      capabilities: ['changes'],
      mark: (session, turn) => Promise.resolve(void seen.push(`mark ${session.projectPath} ${turn}`)),
      answer: (session, { type }) =>
        type === 'get_changes'
          ? Promise.resolve({ scope: 'edits', scopes: ['edits'], files: [] })
          : Promise.reject(new FilesRefused('FILE_HIDDEN', session.sessionId)),
    };
    const relay = await home.relay();
    home.daemon(relay, playing([{ type: 'complete', text: 'done' }]), { workspace });
    const connection = await relay.connection();
    expect(connection.headers['x-daemon-capabilities']).toContain('changes');
    connection.send({
      type: 'task_start',
      task_id: 't1',
      instruction: 'hi',
      project_path: '/garden',
      message_uuid: 'u1',
    });
    const { session_id: sessionId } = await connection.event('TASK_COMPLETE', 't1');
    expect(seen).toEqual(['mark /garden u1']);
    connection.send({ type: 'get_changes', request_id: 'r1', session_id: sessionId ?? '', scope: 'edits', limit: 5 });
    expect(await connection.frame('changes')).toMatchObject({ request_id: 'r1', scope: 'edits', files: [] });
    connection.send({ type: 'get_diff', request_id: 'r2', session_id: sessionId ?? '', scope: 'edits', path: 'a' });
    expect(await connection.frame('diff')).toMatchObject({ request_id: 'r2', code: 'FILE_HIDDEN' });
  });

  it('declares nothing with --files off, and refuses a request', async () => {
    const relay = await home.relay();
    home.daemon(relay, playing([{ type: 'complete', text: 'done' }]));
    const connection = await relay.connection();
    expect(connection.headers['x-daemon-capabilities']).not.toContain('changes');
    connection.send({ type: 'get_changes', request_id: 'r', session_id: 's', scope: 'edits', limit: 5 });
    expect(await connection.frame('changes')).toMatchObject({ code: 'NOT_SUPPORTED_BY_DEVICE' });
  });

  it('shares all files by default, and none without the whole transcript', () => {
    expect([filesOf({}, 'full'), filesOf({}, 'outline'), filesOf({ files: 'changes' }, 'off')]).toEqual([
      'all',
      'off',
      'changes',
    ]);
    expect(() => filesOf({ files: 'some' }, 'full')).toThrow('--files must be all, changes or off.');
    expect(filesSentence({ allow: ['/code'] })).toContain('Apps may read files below /code');
    expect(filesSentence({ transcript: 'off' })).toBe('Apps may read no files.');
  });
});
