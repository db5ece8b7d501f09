import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type TranscriptHead, encodeTranscript, encodeUserFrame } from '@relay/protocol';
import { type TestRelay, connectApp, startRelay } from '@relay/testing';
import { dialDeaf, sayer, textFrames } from './app-door.ts';
import { expectFrame } from './frames.ts';
import { createDeliveries } from '../../src/attention/delivery.ts';
import { until } from '../until.ts';

/** ADR 35: the record `t` that a gateway publishes, and the form in which each socket gets it. */
describe('transcript', () => {
  let relay: TestRelay;
  beforeAll(async () => {
    relay = await startRelay();
  });
  afterAll(() => relay.stop());

  const sessionId = 'd:a:n';
  const add = (text: string) => ({ op: 'add', uuid: 'u1', text });
  const put = { op: 'put', item: { uuid: 'u1', kind: 'unknown to all' } };
  const publisher = (user: string) => {
    const { backplane } = relay.gateways[0]!;
    const userId = relay.issuer.userId(user);
    const publish = (v: number, ops: unknown, head: TranscriptHead = {}) => {
      const frame = JSON.stringify({ type: 'transcript', sessionId, v, ops });
      return backplane.publish(userId, encodeUserFrame('t', encodeTranscript(head, frame)));
    };
    return { publish, publishText: (body: string) => backplane.publish(userId, body), ...sayer(relay, user) };
  };

  it('reaches sockets that asked unchanged, sockets that asked for output alone as task_output, and no others', async () => {
    const user = 'asker';
    const apps = {
      both: await connectApp(relay, { user, output: true, transcript: true }),
      transcript: await connectApp(relay, { user, transcript: true, since: '' }),
      output: await connectApp(relay, { user, output: true }),
      outputSince: await connectApp(relay, { user, output: true, since: '' }),
      plain: await connectApp(relay, { user }),
      since: await connectApp(relay, { user, since: '' }),
    };
    const say = publisher(user);
    await say.append(1);
    await say.publish(7, [put], { taskId: 'T' });
    await say.publish(8, [add('Look'), put, add('ing')], { taskId: 'T', sequence: 1 });
    await say.publish(9, [add('at the desk')]);
    await say.append(2);
    for (const app of Object.values(apps)) await app.next('numbered', ({ n }) => n === 2);
    const typesOf = (app: keyof typeof apps) =>
      apps[app].inbox.all.map(({ type }) => type).filter((type) => type !== 'numbered');
    expect(typesOf('both')).toEqual(['transcript', 'transcript', 'transcript']);
    expect(typesOf('transcript')).toEqual(['transcript', 'transcript', 'transcript']);
    expect(typesOf('output')).toEqual(['task_output', 'task_output']);
    expect(typesOf('outputSince')).toEqual(['task_output', 'task_output']);
    expect([...typesOf('plain'), ...typesOf('since')]).toEqual([]);
    const [, first] = apps.both.inbox.all;
    expect(first).toEqual({ type: 'transcript', sessionId, v: 7, ops: [put] });
    const tagged = apps.transcript.inbox.all.find(({ v }) => v === 7);
    expect(tagged).toEqual({ offset: expect.stringMatching(/./), ...first });
    const [of, desk] = apps.output.inbox.all.filter(({ type }) => type === 'task_output');
    expect(expectFrame('task_output', of!)).toEqual({
      type: 'task_output',
      sessionId,
      taskId: 'T',
      output: 'Looking',
      sequence: 1,
    });
    expect(expectFrame('task_output', desk!)).toEqual({ type: 'task_output', sessionId, output: 'at the desk' });
    const withOffset = apps.outputSince.inbox.all.find(({ type }) => type === 'task_output');
    expectFrame('task_output', withOffset!, { offset: true });
    for (const app of Object.values(apps)) await app.close();
  });

  it('performance 13: passes a long text on as output without decoding or encoding it', () => {
    const asOutput = (ops: unknown, head: TranscriptHead = { taskId: 'T', sequence: 3 }) => {
      const frame = JSON.stringify({ type: 'transcript', sessionId, v: 7, ops });
      const body = encodeUserFrame('t', encodeTranscript(head, frame));
      const decode = jest.spyOn(JSON, 'parse');
      const encode = jest.spyOn(JSON, 'stringify');
      const text = createDeliveries()({ body, offset: '1', hot: true })?.asOutput()?.text;
      const touched = decode.mock.calls
        .concat(encode.mock.calls as never)
        .some(([value]) => JSON.stringify(value).length > 1024);
      decode.mockRestore();
      encode.mockRestore();
      return { output: text === undefined ? undefined : (JSON.parse(text) as unknown), touched };
    };
    const long = 'a "quoted" line\\ of text,"v":1,"ops":[{"op":"add"\n'.repeat(80);
    const output = { type: 'task_output', sessionId, taskId: 'T', output: long, sequence: 3 };
    expect(asOutput([add(long)])).toEqual({ output, touched: false });
    expect(asOutput([add(long)], {})).toEqual({
      output: { type: 'task_output', sessionId, output: long },
      touched: false,
    });
    expect(asOutput([{ op: 'add', uuid: 'u1', to: 'output', text: long }])).toEqual({ output, touched: false });
    expect(asOutput([{ op: 'add', uuid: 'u1', to: 'thought', text: long }])).toEqual({
      output: undefined,
      touched: true,
    });
    expect(asOutput([add('two '), add(long)])).toEqual({ output: { ...output, output: `two ${long}` }, touched: true });
    expect(asOutput([{ ...put, item: { ...put.item, text: long } }])).toEqual({ output: undefined, touched: true });
  });

  it('in an invalid shape adds nothing and disturbs no app', async () => {
    const user = 'sturdy';
    const app = await connectApp(relay, { user, output: true });
    const say = publisher(user);
    for (const ops of [[], [1, null, 'x'], [{ op: 'add' }], [{ op: 'add', text: 5 }], 'none'])
      await say.publish(1, ops, { taskId: 'T' });
    await say.append(1);
    await app.next('numbered');
    expect(app.inbox.all).toHaveLength(1);
    await app.close();
  });

  it('of an unknown record type reaches no app: a rollout', async () => {
    const user = 'early';
    const app = await connectApp(relay, { user, output: true, transcript: true, since: '' });
    const say = publisher(user);
    await say.publishText('y{}\n{"type":"later"}');
    await say.append(1);
    await app.next('numbered');
    expect(app.inbox.all).toHaveLength(1);
    await app.close();
  });

  it('is dropped first for a slow reader', async () => {
    const user = 'slow';
    const say = publisher(user);
    const line = await dialDeaf(relay, user, '?events=transcript');
    const witness = await connectApp(relay, { user });
    // Far more than the operating system buffers for the two sockets.
    for (let v = 1; v <= 600; v += 1) await say.publish(v, [add('x'.repeat(64 * 1024))]);
    for (let n = 601; n <= 605; n += 1) await say.append(n);
    await witness.next('numbered', ({ n }) => n === 605);
    const chunks: Buffer[] = [];
    line.on('data', (chunk: Buffer) => chunks.push(chunk));
    await until(
      'the last frame is read',
      () => chunks.length > 0 && Buffer.concat(chunks.slice(-3)).includes('"n":605'),
    );
    const heard = textFrames(Buffer.concat(chunks)).map((text) => JSON.parse(text) as { v?: number; n?: number });
    expect(heard.filter(({ v }) => v !== undefined).length).toBeLessThan(600);
    expect(heard.flatMap(({ n }) => n ?? [])).toEqual([601, 602, 603, 604, 605]);
    line.destroy();
    await witness.close();
  });
});
