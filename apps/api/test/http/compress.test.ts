import { gunzipSync } from 'node:zlib';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Session } from '@relay/protocol';
import { type Scene, openScene } from '../scene.ts';

interface Received {
  encoding: string | undefined;
  vary: string | undefined;
  length: number;
  text: string;
}

describe('JSON of the api', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene();
    const sessions = Array.from({ length: 20 }, (_, n) => ({ session_id: `s${n}`, title: `session ${n}` }));
    scene.daemon.send({ type: 'report_sessions', sessions });
    await scene.app.next('session_update', (frame) => (frame.session as Session).id.endsWith(':s19'));
  });
  afterAll(() => scene.relay.stop());

  /** The bytes on the wire. */
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    new Promise<Received>((resolve, reject) => {
      const authorization = `Bearer ${scene.relay.token('alice')}`;
      const sent = request(new URL(path, scene.relay.apis[0]!.url), { method, headers: { ...headers, authorization } });
      sent.once('error', reject);
      sent.once('response', (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.once('end', () => {
          const bytes = Buffer.concat(chunks);
          const { 'content-encoding': encoding, vary } = answer.headers;
          const text = (encoding === 'gzip' && bytes.length > 0 ? gunzipSync(bytes) : bytes).toString('utf8');
          resolve({ encoding, vary, length: bytes.length, text });
        });
      });
      sent.end();
    });

  it('W10: is compressed over 1 kB for a client that accepts it, with the same text', async () => {
    const plain = await get('/api/sessions');
    const packed = await get('/api/sessions', { 'Accept-Encoding': 'br, gzip' });
    expect(plain).toMatchObject({ encoding: undefined, vary: expect.stringContaining('Accept-Encoding') });
    expect(packed).toMatchObject({ encoding: 'gzip', text: plain.text });
    expect(packed.vary).toContain('Accept-Encoding');
    expect(packed.length).toBeLessThan(plain.length / 3);
    expect((JSON.parse(packed.text) as { sessions: unknown[] }).sessions).toHaveLength(20);
  });

  it.each([
    ['a short answer', '/api/me', 'gzip'],
    ['a client that refuses gzip', '/api/sessions', 'gzip;q=0'],
  ])('W10: is sent uncompressed for %s', async (_who, path, accept) => {
    expect(await get(path, { 'Accept-Encoding': accept })).toMatchObject({ encoding: undefined });
  });

  it('W10: answers HEAD without a body', async () => {
    expect(await get('/api/sessions', { 'Accept-Encoding': 'gzip' }, 'HEAD')).toMatchObject({ length: 0, text: '' });
  });
});
