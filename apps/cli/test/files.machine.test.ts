import { afterAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestDaemon } from '@relay/testing';
import { scene } from './scene.ts';

const stage = scene();
const folder = mkdtempSync(join(tmpdir(), 'relay-cli-files-'));
afterAll(() => rmSync(folder, { recursive: true }));

const takesFiles = { 'X-Daemon-Capabilities': 'files, transcript, content' };

/** Receives one file as a daemon does. Returns its bytes. */
async function receive(daemon: TestDaemon): Promise<Buffer> {
  const open = await daemon.next('file_open');
  const parts: Buffer[] = [];
  const result = (requestId: unknown, received: number) =>
    daemon.send({ type: 'file_result', request_id: requestId, received, done: received === open.size });
  result(open.request_id, 0);
  for (let received = 0; received < Number(open.size);) {
    const piece = await daemon.next('file_piece');
    parts.push(Buffer.from(String(piece.data), 'base64'));
    received += parts.at(-1)!.length;
    result(piece.request_id, received);
  }
  return Buffer.concat(parts);
}

describe('--file', () => {
  it('sends a file in pieces before the message that names it', async () => {
    const daemon = await stage.daemon('laptop', undefined, takesFiles);
    const path = join(folder, 'sales.bin');
    const bytes = Buffer.alloc(1024 * 1024 + 5, 'x');
    writeFileSync(path, bytes);
    const run = stage.own.run(['new', 'laptop', 'Read it', '--file', path]);
    expect((await receive(daemon)).equals(bytes)).toBe(true);
    const start = await daemon.next('task_start');
    expect(start.files).toHaveLength(1);
    expect((await run).code).toBe(0);
  });

  it('refuses a missing file, a folder and a large one before anything is sent', async () => {
    await stage.daemon('laptop', undefined, takesFiles);
    const large = join(folder, 'large');
    writeFileSync(large, Buffer.alloc(25 * 1024 * 1024 + 1));
    for (const [path, why] of [
      [join(folder, 'nowhere'), '"nowhere" cannot be read: there is no such file.'],
      [folder, 'is no file'],
      [large, '"large" is 26 MB. Files can be 25 MB.'],
    ] as const) {
      const { code, err } = await stage.own.run(['new', 'laptop', 'x', '--file', path]);
      expect([code, err]).toEqual([2, expect.stringContaining(why)]);
    }
  });
});

describe('relay get', () => {
  it('saves a file of the conversation, never over another one without --force', async () => {
    const daemon = await stage.daemon('laptop', undefined, takesFiles);
    await stage.session(daemon, 'report');
    const file = { kind: 'file', name: 'a\u202Eb.txt', data: 'file', mime: 'text/plain', bytes: 5 };
    const items = [
      {
        uuid: 'u',
        role: 'USER',
        content: 'Go',
        part: { kind: 'user', files: [{ ...file, name: 'mine.csv', data: 'file1' }] },
      },
      { uuid: 'f', role: 'AGENT', content: 'x', part: file },
    ].map((item, seq) => ({ ...item, seq: seq + 1, v: 1, timestamp: '2026-01-01T00:00:00.000Z' }));
    const history = async () => {
      const { request_id: id } = await daemon.next('get_messages');
      const about = { request_id: id, session_id: 'report', has_more: false, oldest_uuid: 'u', newest_uuid: 'f' };
      daemon.send({ type: 'messages', ...about, v: 2, messages: items });
    };
    const content = async () => {
      const { request_id: id } = await daemon.next('content_request');
      const about = { request_id: id, session_id: 'report', mime: 'application/octet-stream' };
      daemon.send({ type: 'content_response', ...about, size: 5, data: Buffer.from('hello').toString('base64') });
    };
    const list = stage.own.run(['files', 'report', '--sent']);
    await history();
    expect((await list).out).toMatch(/^a\\u202eb\.txt {2}5 B {2}agent.*\nmine\.csv {2}5 B {2}you/);
    const out = join(folder, 'saved.txt');
    const get = async (...more: string[]) => {
      const run = stage.own.run(['get', 'report', file.name, '-o', out, ...more]);
      await history();
      await content();
      return run;
    };
    expect(await get()).toMatchObject({ code: 0 });
    expect(readFileSync(out, 'utf8')).toBe('hello');
    expect(statSync(out).mode & 0o777).toBe(0o600);
    expect((await get()).err).toContain('--force');
    expect(await get('--force')).toMatchObject({ code: 0 });
  });
});
