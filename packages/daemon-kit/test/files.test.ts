/** Files of people on their way to an agent, and files of agents on their way to people. */
import { existsSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Item, type ToDaemon, fileLimits } from '@relay/protocol';
import type { Agent, FileExchange, Turn, TurnReport } from '../src/index.ts';
import type { DoubleConnection } from '../src/conformance/relay-double.ts';
import { numbered, safeFileName } from '../src/file-names.ts';
import { openIncoming } from '../src/incoming.ts';
import { house } from './house.ts';

const home = house();
afterEach(() => home.clear());

const ids = ['01KKNT3B6Q4M8Z1R5T7YB3C6DE', '01KKNT3B6Q4M8Z1R5T7YB3C6DF'] as const;
const base64 = (text: string) => Buffer.from(text).toString('base64');

/** An agent that takes files, whose turns do this work and complete. */
const doing = (work: (turn: Turn, report: TurnReport) => void): Agent => ({
  tellsUpdates: true,
  capabilities: ['files'],
  start(turn, report) {
    work(turn, report);
    report.complete('Done.');
    return { ended: Promise.resolve(), cancel: () => Promise.resolve() };
  },
});

/** Places files in a folder, and offers the files of `out`. */
const exchangeIn = (folder: string, out: () => Map<string, string> = () => new Map()): FileExchange => ({
  sends: true,
  place: (_session, files) =>
    files.map(({ name, path }) => {
      writeFileSync(join(folder, name), readFileSync(path));
      return join(folder, name);
    }),
  remove: () => undefined,
  read: (path) => readFileSync(path),
  outgoing: out,
});

async function scene(
  agent: Agent,
  { exchange, storeDir = home.folder() }: { exchange?: FileExchange; storeDir?: string } = {},
) {
  const relay = await home.relay({ declares: ['transcript', 'prompts'] });
  const daemon = home.daemon(relay, agent, { storeDir, exchange: exchange ?? exchangeIn(home.folder()) });
  const connection = await relay.connection();
  return { relay, daemon, connection, storeDir };
}
const ask = async (
  connection: DoubleConnection,
  frame: Omit<ToDaemon<'file_open'>, 'request_id'> | Omit<ToDaemon<'file_piece'>, 'request_id'>,
) => {
  connection.send({ ...frame, request_id: 'f' });
  return connection.frame('file_result');
};
const open = (connection: DoubleConnection, name: string, size: number, id: string = ids[0]) =>
  ask(connection, { type: 'file_open', file_id: id, name, size });
const send = (connection: DoubleConnection, text: string, offset = 0, id: string = ids[0]) =>
  ask(connection, { type: 'file_piece', file_id: id, offset, data: base64(text) });
const itemsOf = async (connection: DoubleConnection, sessionId: string | null | undefined) => {
  connection.send({ type: 'get_messages', request_id: 'p', session_id: sessionId ?? '', limit: 50, parts: true });
  return ((await connection.frame('messages')).messages ?? []) as Item[];
};
const contentOf = async (
  connection: DoubleConnection,
  sessionId: string | null | undefined,
  uuid: string,
  name: string,
) => {
  const about = { session_id: sessionId ?? '', uuid, name, offset: 0, limit: 1000 };
  connection.send({ type: 'content_request', request_id: 'c', ...about });
  return connection.frame('content_response');
};

describe('a file for an agent', () => {
  it('arrives in pieces, and the daemon names the offset of the next one, even after a restart', async () => {
    const { relay, daemon, connection, storeDir } = await scene(doing(() => undefined));
    expect(await open(connection, '../a/b.csv', 10)).toMatchObject({ received: 0, done: false, name: '_a_b.csv' });
    expect(await send(connection, 'hello')).toMatchObject({ received: 5, done: false });
    expect(await send(connection, 'hello')).toMatchObject({ code: 'FILE_INCOMPLETE', received: 5 });
    await daemon.stop();
    home.daemon(
      relay,
      doing(() => undefined),
      { storeDir, exchange: exchangeIn(home.folder()) },
    );
    const again = await relay.connection();
    expect(await open(again, 'b.csv', 10)).toMatchObject({ received: 5 });
    const sha256 = createHash('sha256').update('helloworld').digest('hex');
    expect(await send(again, 'world', 5)).toMatchObject({ received: 10, done: true, sha256 });
    expect(statSync(join(storeDir, 'incoming', ids[0])).mode & 0o777).toBe(0o600);
    expect(await send(again, 'x', 10)).toMatchObject({ code: 'INVALID_FILE' });
  });

  it('reaches the agent with its message, and its item names it and a copy of its bytes', async () => {
    const turns: Turn[] = [];
    const { connection, storeDir } = await scene(doing((turn) => void turns.push(turn)));
    await open(connection, 'march.csv', 5);
    await send(connection, 'a;b;c');
    connection.send({ type: 'task_start', task_id: 't', instruction: 'Read it', files: [ids[0]], message_uuid: 'u' });
    const { session_id: sessionId } = await connection.event('TASK_COMPLETE', 't');
    expect(readFileSync(turns[0]!.files![0]!.path, 'utf8')).toBe('a;b;c');
    const [item] = await itemsOf(connection, sessionId);
    expect(item?.part).toEqual({ kind: 'user', files: [{ name: 'march.csv', mime: '', bytes: 5, data: 'file1' }] });
    expect(await contentOf(connection, sessionId, 'u', 'file1')).toMatchObject({
      name: 'march.csv',
      data: base64('a;b;c'),
      mime: 'application/octet-stream',
    });
    // The turn used it.
    expect(existsSync(join(storeDir, 'incoming', ids[0]))).toBe(false);
  });

  it('fails its message before the agent gets a word, if a part of it is missing', async () => {
    let turns = 0;
    const { connection } = await scene(doing(() => void (turns += 1)));
    await open(connection, 'march.csv', 10);
    await send(connection, 'a;b;c');
    connection.send({ type: 'task_start', task_id: 't', instruction: 'Read it', files: [ids[0]] });
    expect(await connection.event('ERROR', 't')).toMatchObject({ code: 'FILE_MISSING' });
    expect(turns).toBe(0);
  });

  it('is refused without a place for it, and the daemon does not declare the capability then', async () => {
    const relay = await home.relay({ declares: ['transcript'] });
    home.daemon(
      relay,
      doing(() => undefined),
    );
    const connection = await relay.connection();
    expect(connection.headers['x-daemon-capabilities']).not.toContain('files');
    expect((await open(connection, 'a', 1)).error).toBeTruthy();
    connection.send({ type: 'task_start', task_id: 't', instruction: 'Go', files: [ids[0]] });
    expect((await connection.event('ERROR', 't')).error).toContain('does not accept files');
  });

  it('is refused beyond its size and beyond the room of the device, and is erased after a day', () => {
    let now = Date.now();
    const incoming = openIncoming({ folder: home.folder(), clock: { now: () => now }, bounds: 10 });
    const opened = (size: number, id: string) =>
      incoming.answer({ type: 'file_open', request_id: 'r', file_id: id, name: 'a', size }).code;
    expect(opened(fileLimits.fileBytes + 1, ids[0])).toBe('FILE_TOO_LARGE');
    expect(opened(8, ids[0])).toBeUndefined();
    expect(opened(8, ids[1])).toBe('DEVICE_FULL');
    expect(opened(8, '../../etc/passwd')).toBe('INVALID_FILE');
    now += 25 * 3_600_000;
    incoming.sweep();
    expect(opened(8, ids[1])).toBeUndefined();
    expect(incoming.find([ids[0]])).toBeUndefined();
  });
});

describe('a file of an agent', () => {
  it('becomes an item after a link in its text, which stays the same', async () => {
    const path = join(home.folder(), 'report.xlsx');
    writeFileSync(path, 'sheets');
    const content = { type: 'resource_link', uri: pathToFileURL(path).href, name: 'report.xlsx', mimeType: 'x/y' };
    const say = (report: TurnReport) => {
      report.update?.({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'Here: ' } });
      report.update?.({ sessionUpdate: 'agent_message_chunk', content });
    };
    const { connection } = await scene(doing((_turn, report) => say(report)));
    connection.send({ type: 'task_start', task_id: 't', instruction: 'Go' });
    const { session_id: sessionId } = await connection.event('TASK_COMPLETE', 't');
    const items = await itemsOf(connection, sessionId);
    expect(items.map(({ part }) => part.kind)).toEqual(['user', 'text', 'file', 'text']);
    expect(items[1]?.content).toContain(pathToFileURL(path).href);
    const file = items[2]!;
    expect(file.part).toMatchObject({ name: 'report.xlsx', bytes: 6, mime: 'x/y' });
    writeFileSync(path, 'later');
    expect(await contentOf(connection, sessionId, file.uuid, 'file')).toMatchObject({ data: base64('sheets') });
  });

  it('becomes an item from a result of a tool, once, and instead of the placeholder of a sound', async () => {
    const blob = { type: 'resource', resource: { uri: 'file:///x/data.bin', mimeType: 'a/b', blob: base64('bytes') } };
    const work = (_turn: Turn, report: TurnReport) => {
      const call = { toolCallId: 'c', title: 'Make', content: [{ type: 'content', content: blob }] };
      report.update?.({ sessionUpdate: 'tool_call', ...call, status: 'in_progress' });
      report.update?.({ sessionUpdate: 'tool_call_update', ...call, status: 'completed' });
      const content = { type: 'audio', mimeType: 'audio/wav', data: base64('sound') };
      report.update?.({ sessionUpdate: 'agent_message_chunk', content });
    };
    const { connection } = await scene(doing(work));
    connection.send({ type: 'task_start', task_id: 't', instruction: 'Go' });
    const { session_id: sessionId } = await connection.event('TASK_COMPLETE', 't');
    const files = (await itemsOf(connection, sessionId)).filter(({ part }) => part.kind === 'file');
    expect(files.map(({ part }) => part.name)).toEqual(['data.bin', 'audio.wav']);
  });

  it('becomes an item when a turn completes, if it is new or changed in the folder for outgoing files', async () => {
    const folder = home.folder();
    const [old, changed, added] = ['old', 'changed', 'new'].map((name) => join(folder, name));
    for (const path of [old!, changed!]) writeFileSync(path, 'before');
    const out = () =>
      new Map(
        [old!, changed!, added!].flatMap((path) => (existsSync(path) ? [[path, String(statSync(path).mtimeMs)]] : [])),
      );
    const agent = doing(() => {
      writeFileSync(added!, 'new');
      utimesSync(changed!, 1, 1);
    });
    const { connection } = await scene(agent, { exchange: exchangeIn(folder, out) });
    connection.send({ type: 'task_start', task_id: 't', instruction: 'Go' });
    const { session_id: sessionId } = await connection.event('TASK_COMPLETE', 't');
    const files = (await itemsOf(connection, sessionId)).filter(({ part }) => part.kind === 'file');
    expect(files.map(({ part }) => part.name)).toEqual(['changed', 'new']);
  });

  describe('in a folder where two sessions run', () => {
    const toolOf = (name: string) => ({ sessionUpdate: 'tool_call', toolCallId: name, title: `Write ${name}` });
    /** Two turns run at once; returns the files that each offers once both complete, in this order. */
    const filesOfTwo = async (work: (write: (name: string) => void, one: TurnReport, two: TurnReport) => void) => {
      const folder = home.folder();
      const stamps = new Map<string, string>();
      const reports: TurnReport[] = [];
      const agent: Agent = {
        tellsUpdates: true,
        start(_turn, report) {
          const ended = new Promise<void>((resolve) => {
            const complete = (result: string) => {
              report.complete(result);
              resolve();
            };
            reports.push({ ...report, complete });
          });
          return { ended, cancel: () => Promise.resolve() };
        },
      };
      const { connection } = await scene(agent, { exchange: exchangeIn(folder, () => new Map(stamps)) });
      const sessions: string[] = [];
      for (const task_id of ['one', 'two']) {
        connection.send({ type: 'task_start', task_id, instruction: 'Go' });
        sessions.push((await connection.event('SESSION_STARTED', task_id)).session_id ?? '');
      }
      work(
        (name) => {
          writeFileSync(join(folder, name), name);
          stamps.set(join(folder, name), '1');
        },
        reports[0]!,
        reports[1]!,
      );
      for (const report of reports) report.complete('Done.');
      await connection.event('TASK_COMPLETE', 'one');
      const files = [];
      for (const sessionId of sessions) {
        const parts = (await itemsOf(connection, sessionId)).map(({ part }) => part);
        files.push(parts.filter(({ kind }) => kind === 'file').map(({ name, shared }) => ({ name, shared })));
      }
      return files;
    };

    it('belongs to the session whose tool call names it', async () => {
      const files = await filesOfTwo((write, _one, two) => {
        two.update?.(toolOf('report.pdf'));
        write('report.pdf');
      });
      expect(files).toEqual([[], [{ name: 'report.pdf', shared: undefined }]]);
    });

    it('is shared by both sessions when their tool calls do not name it, or both name it', async () => {
      const files = await filesOfTwo((write, one, two) => {
        for (const report of [one, two]) report.update?.(toolOf('both.pdf'));
        write('both.pdf');
        write('script-made.csv');
      });
      const both = [
        { name: 'both.pdf', shared: true },
        { name: 'script-made.csv', shared: true },
      ];
      expect(files).toEqual([both, both]);
    });

    it('belongs to the session that runs while the other waits for an answer, or is over', async () => {
      const files = await filesOfTwo((write, one, two) => {
        write('early.txt');
        one.update?.(toolOf('early.txt'));
        two.wait({ prompt: 'Which?' });
        write('alone.txt');
        one.complete('Done.');
      });
      expect(files).toEqual([
        [
          { name: 'early.txt', shared: undefined },
          { name: 'alone.txt', shared: undefined },
        ],
        [],
      ]);
    });
  });

  it('stays on the machine where no file of an agent leaves it', async () => {
    const content = { type: 'audio', mimeType: 'audio/wav', data: base64('sound') };
    const say = (report: TurnReport) => report.update?.({ sessionUpdate: 'agent_message_chunk', content });
    const exchange = { ...exchangeIn(home.folder()), sends: false };
    const { connection } = await scene(
      doing((_turn, report) => void say(report)),
      { exchange },
    );
    connection.send({ type: 'task_start', task_id: 't', instruction: 'Go' });
    const { session_id: sessionId } = await connection.event('TASK_COMPLETE', 't');
    expect((await itemsOf(connection, sessionId)).filter(({ part }) => part.kind === 'file')).toEqual([]);
  });
});

describe('the name of a file', () => {
  it.each([
    ['report.xlsx', 'report.xlsx'],
    ['../../etc/passwd', '_.._etc_passwd'],
    ['C:\\Windows\\a.txt', 'C__Windows_a.txt'],
    ['.git/config', 'git_config'],
    ['NUL', '_NUL'],
    ['com1.txt', '_com1.txt'],
    ['  .. ', 'file'],
    ['', 'file'],
    ['invoice\u202Efdp.exe', 'invoicefdp.exe'],
    ['a\u0000b\nc', 'abc'],
    ['e\u0301.txt', 'é.txt'],
    ['end. . .', 'end'],
  ])('%j becomes %j', (given, name) => expect(safeFileName(given)).toBe(name));

  it('has at most 120 bytes and keeps its ending, also with a number', () => {
    const long = `${'ä'.repeat(200)}.tar.gz`;
    for (const name of [safeFileName(long), numbered(safeFileName(long), 12)]) {
      expect(Buffer.byteLength(name)).toBeLessThanOrEqual(120);
      expect(name).toMatch(/\.gz$/);
    }
    expect(numbered('a.pdf', 2)).toBe('a-2.pdf');
    expect(numbered('a.pdf', 1)).toBe('a.pdf');
  });
});
