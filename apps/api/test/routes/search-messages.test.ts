import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connectDaemon } from '@relay/testing';
import { expectRefusal, expectSuccess } from '../answers.ts';
import { itAsksForCredentials } from '../credentials.ts';
import { type Scene, openScene, updateOf } from '../scene.ts';

describe('GET /api/devices/:id/search', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene();
  });
  afterAll(() => scene.relay.stop());

  itAsksForCredentials(() => scene.relay, 'searchMessages');

  it('D4: searches transcripts through the daemon, and names the public session of each hit', async () => {
    const { relay, app } = scene;
    const daemon = await connectDaemon(relay, { headers: { 'X-Daemon-Capabilities': 'search' } });
    const id = `${daemon.deviceId}:scripted:garden`;
    daemon.send({ type: 'report_sessions', sessions: [{ session_id: 'garden', title: 'The garden' }] });
    await updateOf(app, id);
    const search = (q: string, user = 'alice') =>
      relay.call('searchMessages', { params: { id: daemon.deviceId }, query: { q }, user });
    const answer = async (fields: object) => {
      const { request_id: requestId, query } = await daemon.next('search_request');
      daemon.send({ type: 'search_response', request_id: requestId, ...fields });
      return query;
    };
    const hit = { uuid: 'm1', role: 'AGENT', text: 'The roses have water.', timestamp: '2026-03-14T09:10:00.000Z' };
    const asked = search('Roses');
    const hits = [
      { session_id: 'garden', ...hit },
      { session_id: 'unknown to the relay', ...hit },
    ];
    expect(await answer({ hits, more: true })).toBe('Roses');
    const found = { hits: [{ sessionId: id, title: 'The garden', ...hit }], more: true };
    expect(expectSuccess('searchMessages', 200, await asked)).toEqual(found);
    await relay.call('deleteSession', { params: { id } });
    const after = search('Roses');
    await answer({ hits });
    expect((await after).body).toEqual({ hits: [] });
    const broken = search('Roses');
    await answer({ error: 'the disk is on fire' });
    expectRefusal(await broken, 'DEVICE_ERROR');
    expectRefusal(await search('Roses', 'bob'), 'DEVICE_NOT_FOUND');
    const plain = await connectDaemon(relay);
    const unable = await relay.call('searchMessages', { params: { id: plain.deviceId }, query: { q: 'Roses' } });
    expectRefusal(unable, 'NOT_SUPPORTED_BY_DEVICE');
  });
});
