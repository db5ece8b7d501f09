import { describe, expect, it } from '@jest/globals';
import type { InboxItem } from '@relay/protocol';
import { untilOf } from '../src/commands/inbox.ts';
import { scene } from './scene.ts';

const stage = scene();

/** A session whose last task failed with this error. */
async function failed(native: string, error: string): Promise<void> {
  const daemon = await stage.daemon('laptop');
  const id = await stage.session(daemon, native);
  const { body } = await stage.person.relay.call('POST', `/api/sessions/${encodeURIComponent(id)}/messages`, {
    body: { content: 'go' },
  });
  const { taskId } = body as { taskId: string };
  await daemon.next('task_resume', (frame) => frame.task_id === taskId);
  daemon.event(taskId, 'ERROR', { session_id: native, error });
  await stage.settled(taskId, 'failed');
}

describe('relay inbox', () => {
  it('reports an empty inbox', async () => {
    expect(await stage.own.run(['inbox'])).toEqual({ code: 0, err: '', out: 'Nothing waits for you.\n' });
    expect(await stage.own.json(['inbox'])).toMatchObject({ exit: 0, items: [], counts: { total: 0, badge: 0 } });
  });

  it('lists open items, snoozes an item and shows it again, and acknowledges it by a prefix of its id', async () => {
    await failed('broken', 'no disk');
    const { items } = await stage.own.json(['inbox', '--kind', 'failure']);
    const short = (items as InboxItem[])[0]!.id.slice(0, 8);
    expect((await stage.own.run(['inbox'])).out).toMatch(
      new RegExp(`^KIND +WHAT +SESSION +MACHINE +SINCE +ID\\nfailed +no disk +broken +laptop +.+ +${short}\\n$`),
    );
    expect(await stage.own.run(['inbox', 'snooze', short, '2h'])).toMatchObject({
      code: 0,
      out: 'Nothing waits for you.\n',
    });
    expect((await stage.own.run(['inbox'])).out).toBe('Nothing waits for you. 1 snoozed (--snoozed).\n');
    expect(await stage.own.json(['inbox', '--snoozed'])).toMatchObject({ items: [{ state: 'snoozed' }] });
    expect(await stage.own.json(['inbox', 'snooze', short, 'off'])).toMatchObject({
      exit: 0,
      counts: { failure: 1, snoozed: 0 },
    });
    expect(await stage.own.json(['inbox', 'ack', short])).toMatchObject({ exit: 0, counts: { total: 0 } });
    expect(await stage.own.json(['inbox', 'ack', short])).toMatchObject({ exit: 4, code: 'ITEM_NOT_FOUND' });
  });

  it('acknowledges all items with --all, and requires an id otherwise', async () => {
    await failed('one', 'x');
    await failed('two', 'y');
    expect(await stage.own.run(['inbox', 'ack'])).toMatchObject({ code: 2 });
    expect(await stage.own.run(['inbox', 'ack', '--all'])).toMatchObject({ code: 0, out: 'Nothing waits for you.\n' });
  });

  it.each([
    ['30m', 30 * 60_000],
    ['2h', 7_200_000],
    ['3d', 259_200_000],
  ])('accepts %s as a duration', (typed, ms) => {
    expect(untilOf(typed, 1000)).toEqual(new Date(1000 + ms));
  });

  it.each(['0h', '2', 'soon', '-1h'])('refuses %s', (typed) => {
    expect(() => untilOf(typed, 0)).toThrow('30m, 2h, 3d');
  });
});
