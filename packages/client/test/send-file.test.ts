/** Sending a file in pieces over connections that fail. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type RelayDouble, startRelayDouble } from '@relay/testing';
import { createClient, newFileId, sendFile } from '../src/node.ts';

let relay: RelayDouble;
beforeEach(async () => {
  relay = await startRelayDouble();
});
afterEach(() => relay.close());

const bytes = new Uint8Array(1024 * 1024 + 3).fill(7);
const file = {
  id: newFileId(),
  name: 'a.bin',
  size: bytes.length,
  read: (offset: number, length: number) => Promise.resolve(bytes.slice(offset, offset + length)),
};
const state = (received: number) => ({ fileId: file.id, received, done: received === bytes.length });
const path = `/api/devices/d/files/${file.id}`;
const client = () => createClient({ baseUrl: relay.url, token: 't', retries: 0 });

describe('sendFile', () => {
  it('sends pieces as bytes, each at the offset that the device names, and reports progress', async () => {
    relay.answers.set('POST /api/devices/d/files', [{ status: 201, body: state(0) }]);
    relay.answers.set(`PUT ${path}`, [
      { status: 200, body: state(1024 * 1024) },
      { status: 200, body: state(bytes.length) },
    ]);
    const seen: number[] = [];
    await sendFile(client(), 'd', file, { onProgress: (received) => seen.push(received) });
    expect(seen).toEqual([0, 1024 * 1024, bytes.length]);
    const pieces = relay.requests.slice(1);
    expect(pieces.map(({ query }) => query.get('offset'))).toEqual(['0', '1048576']);
    expect(pieces.map(({ headers }) => headers['content-type'])).toEqual([
      'application/octet-stream',
      'application/octet-stream',
    ]);
    expect(pieces[1]?.body).toBe('\x07\x07\x07');
  });

  it('continues where the device stopped after a failure, and begins again if the device lost the file', async () => {
    relay.answers.set('POST /api/devices/d/files', [
      { status: 201, body: state(0) },
      { status: 201, body: state(1024 * 1024) },
    ]);
    relay.answers.set(`PUT ${path}`, [
      { status: 409, body: { code: 'FILE_INCOMPLETE', error: 'x', status: 409, received: 1024 * 1024 } },
      { status: 200, body: state(bytes.length) },
    ]);
    expect(await sendFile(client(), 'd', file)).toEqual(state(bytes.length));
    expect(relay.requests.map(({ query }) => query.get('offset'))).toEqual([null, '0', null, '1048576']);
  });

  it('gives up on a device that counts more bytes than the file has', async () => {
    relay.answers.set('POST /api/devices/d/files', [
      { status: 201, body: { ...state(bytes.length + 1), done: false } },
    ]);
    await expect(sendFile(client(), 'd', file)).rejects.toMatchObject({ code: 'INVALID_FILE' });
    expect(relay.requests).toHaveLength(1);
  });

  it('passes on a refusal, and stops at once on an abort', async () => {
    relay.answers.set('POST /api/devices/d/files', [
      { status: 413, body: { code: 'FILE_TOO_LARGE', error: 'x', status: 413 } },
      { status: 503, body: { code: 'DEVICE_OFFLINE', error: 'x', status: 503, retryAfter: 10 } },
    ]);
    await expect(sendFile(client(), 'd', file)).rejects.toMatchObject({ code: 'FILE_TOO_LARGE' });
    const controller = new AbortController();
    const sent = sendFile(client(), 'd', file, { signal: controller.signal });
    while (relay.requests.length < 2) await new Promise((resolve) => setImmediate(resolve));
    controller.abort(new Error('stop'));
    await expect(sent).rejects.toThrow('stop');
  });
});
