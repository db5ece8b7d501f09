import { afterAll, describe, expect, it } from '@jest/globals';
import { type PushReceiver, startPushReceiver } from '@relay/testing';
import { scene } from './scene.ts';

let receiver: PushReceiver;
const stage = scene(async () => {
  receiver = await startPushReceiver();
  return { pushSecret: ['p'.repeat(32)], pushAllowedHosts: [receiver.host] };
});
afterAll(() => receiver.close());

describe('relay notify', () => {
  it('prints the next step for an empty list', async () => {
    expect(await stage.own.run(['notify'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('relay notify add'),
    });
    expect(await stage.own.json(['notify'])).toEqual({ exit: 0, subscriptions: [] });
  });

  it('adds an ntfy topic, tests it, pauses it and removes it, by a part of its name', async () => {
    const added = await stage.own.run([
      'notify',
      'add',
      'ntfy',
      'garden',
      '--server',
      receiver.url,
      '--name',
      'My phone',
    ]);
    expect(added).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^Added My phone \(\w+\)\.\nTry it: relay notify test/),
    });
    const tested = await stage.own.run(['notify', 'test', 'phone']);
    expect(tested).toEqual({ code: 0, err: '', out: 'Delivered to My phone.\n' });
    expect(JSON.parse(receiver.at('/')[0]!.body.toString())).toMatchObject({ topic: 'garden' });
    const listed = await stage.own.run(['notify']);
    expect(listed.out).toMatch(/^NAME +KIND +STATE +LAST +ID\nMy phone +ntfy +active +accepted .* \w+\n$/);
    expect(await stage.own.run(['notify', 'pause', 'PHONE'])).toMatchObject({ code: 0, out: 'My phone: paused.\n' });
    expect(await stage.own.json(['notify', 'resume', 'phone'])).toMatchObject({ exit: 0, state: 'active' });
    expect(await stage.own.run(['notify', 'remove', 'phone'])).toMatchObject({ code: 0 });
    expect(await stage.own.json(['notify'])).toEqual({ exit: 0, subscriptions: [] });
  });

  it('shows the secret of a webhook once, and the reason for a failed test', async () => {
    const words = ['notify', 'add', 'webhook', `${receiver.url}/hook`, '--name', 'CI', '--causes', 'failed, needs_you'];
    const { out } = await stage.own.run(words);
    expect(out).toMatch(/shown once: whsec_\S{44}\n/);
    receiver.answer = (response) => void response.writeHead(401).end();
    expect(await stage.own.run(['notify', 'test', 'ci'])).toMatchObject({
      code: 1,
      out: 'Not delivered to CI: The service answered 401.\n',
    });
    const { subscriptions } = await stage.own.json(['notify']);
    expect(subscriptions).toMatchObject([{ state: 'paused', causes: { unknown: 'off', done: 'off', device: 'off' } }]);
  });

  it('shows and changes notification causes and quiet hours', async () => {
    expect((await stage.own.run(['notify', 'settings'])).out).toMatch(
      /^needs_you: +all\n(.*\n)+quiet hours: +none\nheld: +0\n$/,
    );
    const quiet = [
      'notify',
      'quiet',
      '22:00-07:00',
      '--zone',
      'Europe/Berlin',
      '--days',
      'fri,sat',
      '--let',
      'needs_you,failed',
    ];
    expect(await stage.own.run(quiet)).toMatchObject({
      ...{ code: 0, out: 'Quiet hours: 22:00 to 07:00 from fri, sat, Europe/Berlin; needs_you, failed pass.\n' },
    });
    const set = await stage.own.json(['notify', 'settings', '--set', 'done=all,device=watched']);
    expect(set).toMatchObject({ causes: { done: 'all', device: 'watched' }, quietHours: { start: '22:00' } });
    expect(await stage.own.json(['notify', 'quiet', 'off'])).toMatchObject({
      causes: { done: 'all' },
      quietHours: null,
    });
    expect((await stage.own.run(['notifications', '--json'])).code).toBe(0);
  });

  it.each([
    [['notify', 'quiet', '22-7'], 2, 'Give quiet hours as'],
    [['notify', 'quiet', '22:00-07:00', '--days', 'someday'], 2, 'There is no day "someday"'],
    [['notify', 'quiet', '22:00-07:00', '--zone', 'Mars/Olympus'], 2, 'IANA'],
    [['notify', 'settings', '--set', 'done=loud'], 2, 'There is no level "loud"'],
    [['notifications', '--limit', '0'], 2, '--limit'],
    [['notify', 'add', 'pigeon', 'x'], 2, 'The kind must be "ntfy" or "webhook"'],
    [['notify', 'add', 'ntfy', 'x', '--causes', 'rain'], 2, 'There is no cause "rain"'],
    [['notify', 'add', 'ntfy', 'x', '--detail', 'all'], 2, '--detail is one of'],
    [['notify', 'add', 'webhook', 'http://10.0.0.1/'], 2, 'ADDRESS_NOT_ALLOWED'],
    [['notify', 'test', 'nothing'], 4, 'No address matches "nothing"'],
  ])('refuses %j with a remedy', async (words, code, text) => {
    const answer = await stage.own.run(words);
    expect(answer).toMatchObject({ code, err: expect.stringContaining(text) });
  });
});
