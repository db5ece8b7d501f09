/** Prompts, questions, settings, paths and ids in both directions, without a relay. */
import { describe, expect, it } from '@jest/globals';
import { RequestError } from '@agentclientprotocol/sdk';
import { RelayError } from '@relay/client';
import type { Prompt } from '@relay/protocol';
import fc from 'fast-check';
import { errorOf } from '../src/errors.ts';
import { pathsOf } from '../src/paths.ts';
import { instructionOf } from '../src/prompt.ts';
import { askingOf } from '../src/questions.ts';
import { acpIdOf, sessionIdOf } from '../src/session-ids.ts';
import { choicesOf } from '../src/settings.ts';
import { stepOf } from '../src/turn.ts';
import { newUlid, timeOf } from '../src/ulid.ts';

const paths = pathsOf([
  { local: '/Users/ada/src', remote: '/home/ada/src' },
  { local: '/Users/ada/src/garden', remote: '/srv/garden/' },
]);

describe('paths', () => {
  it('map by the longest matching folder, in both directions', () => {
    expect(paths.toRemote('/Users/ada/src/a.ts')).toBe('/home/ada/src/a.ts');
    expect(paths.toRemote('/Users/ada/src/garden/b/c.ts')).toBe('/srv/garden/b/c.ts');
    expect(paths.toRemote('/Users/ada/src')).toBe('/home/ada/src');
    expect(paths.toLocal('/srv/garden/b')).toBe('/Users/ada/src/garden/b');
    expect(paths.toRemote('/Users/ada/src2/a.ts')).toBe('/Users/ada/src2/a.ts');
    expect(pathsOf([{ local: 'C:\\src', remote: '/src' }]).toRemote('C:\\src\\a\\b.ts')).toBe('/src/a/b.ts');
    expect(pathsOf([{ local: 'C:\\src', remote: '/src' }]).toLocal('/src/a/b.ts')).toBe('C:\\src\\a\\b.ts');
  });
});

describe('ids of sessions', () => {
  it('lead back to the session for any id of the agent', () => {
    const place = { deviceId: 'd', agentType: 'a' };
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 200, unit: 'grapheme' }), (nativeId) => {
        const acpId = acpIdOf(`d:a:${nativeId}`);
        expect(acpId).toMatch(/^[\x21-\x7e]+$/);
        expect(sessionIdOf(acpId, place)).toBe(`d:a:${nativeId}`);
      }),
    );
    expect(sessionIdOf('', place)).toBeUndefined();
  });

  it('of new sessions contain their creation time', () => {
    const ulid = newUlid(1_790_000_000_123);
    expect(ulid).toMatch(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
    expect(timeOf(ulid)).toBe(1_790_000_000_123);
  });
});

describe('a prompt', () => {
  it('is one text with the paths of the device, and images as data URLs', () => {
    const link = { type: 'resource_link' as const, name: 'a.ts', uri: 'file:///Users/ada/src/a%20b.ts#L3' };
    const image = { type: 'image' as const, mimeType: 'image/png', data: 'AAAA' };
    const words = (text: string) => ({ type: 'text' as const, text });
    expect(instructionOf([words('Look at'), link, words(', please.'), words('Soon.'), image], paths)).toEqual({
      content: 'Look at /home/ada/src/a b.ts#L3, please.\nSoon.',
      images: ['data:image/png;base64,AAAA'],
    });
    expect(instructionOf([image], paths).content).not.toBe('');
    expect(() => instructionOf([{ type: 'audio', mimeType: 'audio/wav', data: '' }], paths)).toThrow(RequestError);
  });

  it('has embedded files for a device that accepts them, and their paths for any other', () => {
    const resource = { uri: 'file:///Users/ada/src/my%20plan.bin', mimeType: 'a/b', blob: 'aGk=' };
    const blocks = [{ type: 'resource' as const, resource }];
    expect(instructionOf(blocks, paths)).toEqual({ content: '/home/ada/src/my plan.bin' });
    expect(instructionOf(blocks, paths, true)).toEqual({
      content: 'See the attached file.',
      blobs: [{ name: 'my plan.bin', mime: 'a/b', bytes: Buffer.from('hi') }],
    });
  });
});

const prompt: Prompt = {
  id: 'q-1',
  kind: 'permission',
  prompt: 'Run the tests?',
  result: 'Run the tests?',
  options: [
    { id: 'y', label: 'Yes', kind: 'allow_once' },
    { id: 'n', label: 'No', kind: 'reject_once' },
  ],
  subject: { type: 'command', command: 'npm test', cwd: '/home/ada/src' },
  digest: 'abc',
  at: '2026-01-01T00:00:00.000Z',
};
const options = { sessionId: 's', forms: true, cwd: '/home/ada/src', paths };

describe('a question', () => {
  it('for permission is a request with the same options, and its answer contains option and digest', () => {
    const asking = askingOf(prompt, options);
    if (asking.how !== 'permission') throw new Error(asking.how);
    expect(asking.request).toMatchObject({
      sessionId: 's',
      toolCall: { toolCallId: 'q-1', kind: 'execute', rawInput: { command: 'npm test', cwd: '/Users/ada/src' } },
      options: [
        { optionId: 'y', name: 'Yes', kind: 'allow_once' },
        { optionId: 'n', name: 'No', kind: 'reject_once' },
      ],
    });
    expect(asking.answerOf({ outcome: { outcome: 'selected', optionId: 'n' } })).toEqual({
      option: 'n',
      digest: 'abc',
    });
    expect(asking.answerOf({ outcome: { outcome: 'selected', optionId: 'x' } })).toBeUndefined();
    expect(asking.answerOf({ outcome: { outcome: 'cancelled' } })).toBeUndefined();
  });

  it('with a choice is a form if the client has forms, otherwise a request with its labels', () => {
    const choice: Prompt = { ...prompt, kind: 'choice', text: true };
    const asking = askingOf(choice, options);
    if (asking.how !== 'form') throw new Error(asking.how);
    expect(asking.answerOf({ action: 'accept', content: { answer: 'y' } })).toEqual({ option: 'y', digest: 'abc' });
    expect(asking.answerOf({ action: 'accept', content: { words: 'Later' } })).toEqual({
      text: 'Later',
      digest: 'abc',
    });
    expect(asking.answerOf({ action: 'decline' })).toEqual({ option: 'n', digest: 'abc' });
    expect(asking.answerOf({ action: 'cancel' })).toBeUndefined();
    expect(askingOf(choice, { ...options, forms: false }).how).toBe('permission');
  });

  it('with fields is a form with their bounds, and its answer contains their values', () => {
    const fields = [
      { name: 'port', title: 'Port', type: 'integer', required: true, min: 1024, default: '8080' },
      { name: 'size', title: 'Size', type: 'choice', choices: [{ id: 's', label: 'Small' }] },
      { name: 'gift', title: 'Gift', type: 'boolean' },
      { name: 'tags', title: 'Tags', type: 'choices', choices: [{ id: 'a', label: 'A' }] },
    ];
    const asking = askingOf({ ...prompt, kind: 'form', options: [], fields }, options);
    if (asking.how !== 'form') throw new Error(asking.how);
    expect(asking.request).toMatchObject({
      requestedSchema: {
        required: ['port'],
        properties: {
          port: { type: 'integer', minimum: 1024, default: 8080 },
          size: { type: 'string', oneOf: [{ const: 's', title: 'Small' }] },
          gift: { type: 'boolean' },
          tags: { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] } },
        },
      },
    });
    const content = { port: 1, gift: true };
    expect(asking.answerOf({ action: 'accept', content })).toEqual({ fields: content, digest: 'abc' });
  });

  it('stays open for other apps if it lacks an id, or does not fit a request', () => {
    const { id: _id, ...unnamed } = prompt;
    expect(askingOf(unnamed, options).how).toBe('elsewhere');
    expect(askingOf({ ...prompt, kind: 'text', options: [] }, { ...options, forms: false }).how).toBe('elsewhere');
  });
});

describe('settings', () => {
  it('are options with categories, and a mode appears as a mode too', () => {
    const mode = { id: 'm', kind: 'mode', name: 'Mode', value: 'ask', options: [{ id: 'ask', name: 'Ask' }] };
    const effort = { id: 'e', kind: 'option', name: 'Effort', value: 'low', options: [{ id: 'low', name: 'Low' }] };
    expect(choicesOf([])).toEqual({});
    expect(choicesOf([effort])).not.toHaveProperty('modes');
    expect(choicesOf([mode, effort])).toMatchObject({
      modes: { currentModeId: 'ask', availableModes: [{ id: 'ask', name: 'Ask' }] },
      configOptions: [
        { id: 'm', category: 'mode', currentValue: 'ask' },
        { id: 'e', currentValue: 'low' },
      ],
    });
  });
});

describe('an error', () => {
  it('has a JSON-RPC number, and the code of the relay', () => {
    const refusal = (code: string, status: number) =>
      errorOf(new RelayError({ code, message: 'No.', status, retryAfter: 3, details: {}, headers: new Headers() }));
    expect(refusal('DEVICE_ERROR', 503)).toMatchObject({
      code: -32603,
      message: 'No.',
      data: { code: 'DEVICE_ERROR', status: 503, retryAfter: 3 },
    });
    expect(refusal('TOKEN_EXPIRED', 401).code).toBe(-32000);
    expect(refusal('SESSION_NOT_FOUND', 404).code).toBe(-32002);
    expect(refusal('INVALID_IMAGE', 400).code).toBe(-32602);
    expect(errorOf(new Error('Odd.'))).toMatchObject({ code: -32603, data: { code: 'UNEXPECTED' } });
  });
});

describe('the turn of a prompt', () => {
  const step = (state: Parameters<typeof stepOf>[0]['state'], session: Parameters<typeof stepOf>[1]) =>
    stepOf({ id: '1', state }, session);
  it('continues through questions with the task of the answer, and with no other message', () => {
    expect(step('running', { status: 'active' })).toEqual({ kind: 'goes on' });
    expect(step('completed', { status: 'active' })).toEqual({ kind: 'ended', state: 'completed' });
    expect(step('waiting', { status: 'waiting', lastTask: { id: '1', state: 'waiting' } })).toEqual({
      kind: 'goes on',
    });
    expect(step('waiting', { status: 'waiting', lastTask: { id: '2', state: 'queued' } })).toEqual({ kind: 'goes on' });
    expect(step('waiting', { status: 'active', lastTask: { id: '2', state: 'running' } })).toEqual({
      kind: 'follow',
      taskId: '2',
    });
    expect(step('waiting', { status: 'waiting', lastTask: { id: '2', state: 'cancelled' } })).toEqual({
      kind: 'goes on',
    });
    expect(step('waiting', { status: 'idle', lastTask: { id: '1', state: 'waiting' } })).toEqual({
      kind: 'ended',
      state: 'completed',
    });
  });
});
