import { afterAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scene } from './scene.ts';

const stage = scene();
const folder = mkdtempSync(join(tmpdir(), 'relay-cli-images-'));
afterAll(() => rmSync(folder, { recursive: true }));

const file = (name: string, bytes: Buffer) => {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
};
const png = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDRthe restIEND', 'latin1');
const webp = Buffer.from('RIFF\n\0\0\0WEBPthe rest', 'latin1');
const url = (type: string, bytes: Buffer) => `data:image/${type};base64,${bytes.toString('base64')}`;
const takesImages = { 'X-Daemon-Capabilities': 'images' };

describe('--image', () => {
  it('sends files with a first message and with a later one, with any file name', async () => {
    const daemon = await stage.daemon('laptop', undefined, takesImages);
    const first = ['new', 'laptop', 'Look', '--image', file('a.png', png), '--image', file('b.jpg', webp)];
    expect((await stage.own.run(first)).code).toBe(0);
    const start = await daemon.next('task_start');
    expect(start.images).toEqual([url('png', png), url('webp', webp)]);
    daemon.event(start.task_id as string, 'SESSION_STARTED', { session_id: 'pictures' });
    daemon.event(start.task_id as string, 'TASK_COMPLETE', { session_id: 'pictures', result: 'seen' });
    await stage.settled(start.task_id as string, 'completed');
    expect((await stage.own.run(['send', 'pictures', 'And this', '--image', join(folder, 'a.png')])).code).toBe(0);
    expect(await daemon.next('task_resume')).toMatchObject({ message: 'And this', images: [url('png', png)] });
  });

  it('reports an invalid image before it sends anything', async () => {
    const daemon = await stage.daemon('laptop', undefined, takesImages);
    for (const [files, why] of [
      [[join(folder, 'nowhere.png')], '"nowhere.png" cannot be read: there is no such file.'],
      [[folder], 'cannot be read'],
      [[file('notes.png', Buffer.from('text'))], '"notes.png" is not a PNG, JPEG, GIF or WebP image.'],
      [[file('large.png', Buffer.concat([png, Buffer.alloc(5 * 1024 * 1024)]))], '"large.png" is larger than 5 MiB.'],
      [Array.from({ length: 9 }, () => join(folder, 'a.png')), 'A message takes at most 8 images.'],
      [
        Array.from({ length: 3 }, () => file('four.png', Buffer.concat([png, Buffer.alloc(4 * 1024 * 1024)]))),
        'The images are larger than 10 MiB in total.',
      ],
    ] as const) {
      const { code, err } = await stage.own.run(['new', 'laptop', 'x', ...files.flatMap((one) => ['--image', one])]);
      expect([code, err]).toEqual([2, expect.stringContaining(why)]);
    }
    expect((await stage.own.run(['new', 'laptop', 'the last'])).code).toBe(0);
    expect(await daemon.next('task_start')).toMatchObject({ instruction: 'the last' });
  });

  it('passes on that a device accepts no images', async () => {
    await stage.daemon('plain', undefined, { 'X-Daemon-Capabilities': 'receipts' });
    const { code, err } = await stage.own.run(['new', 'plain', 'x', '--image', file('c.png', png)]);
    expect([code, err]).toEqual([1, expect.stringContaining('This device does not accept images')]);
  });
});

describe('relay commands', () => {
  it("lists the agent's slash commands", async () => {
    const daemon = await stage.daemon('laptop');
    const id = await stage.session(daemon, 'busy');
    expect((await stage.own.run(['commands', 'busy'])).out).toBe('The agent has not listed any commands.\n');
    const commands = [{ name: 'compact', description: 'Summarise\u001b[31m', input_hint: 'what to keep' }, 'review'];
    daemon.send({ type: 'report_slash_commands', session_id: 'busy', commands });
    // The gateway handles frames in order: the result of the next one proves that it read the report.
    const later = await stage.session(daemon, 'later');
    expect(later).not.toBe(id);
    const { code, out } = await stage.own.run(['commands', 'busy']);
    expect([code, out.split('\n')]).toEqual([
      0,
      [expect.stringMatching(/^\/compact {2}<what to keep> {2}Summ/), '/review', ''],
    ]);
    expect(out).not.toContain('\u001b');
    expect(await stage.own.json(['commands', 'busy'])).toMatchObject({ exit: 0, commands: [{ name: 'compact' }, {}] });
  });
});
