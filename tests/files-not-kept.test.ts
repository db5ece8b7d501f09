/** The relay passes files, changes and usage figures on, and keeps nothing of them (rules, 22.4, 25.6 and 27.1). */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type TestRelay, connectApp, connectDaemon, dumpTestBus, startRelay } from '@relay/testing';
import { dumpDatabase, found } from './erasure-scene.ts';
import { fileCapabilities, fileMarkers, passFiles } from './files-scene.ts';

let relay: TestRelay;
beforeAll(async () => {
  relay = await startRelay({ apis: 2, gateways: 2 });
});
afterAll(() => relay.stop());

it('5.7, 16: leaves no byte, name, path or figure in any table or in Redis', async () => {
  await connectApp(relay, { since: '' });
  const daemon = await connectDaemon(relay, { gateway: 1, capabilities: [...fileCapabilities] });
  const shown = await passFiles((method, path, more) => relay.call(method, path, more), daemon);
  // Proves that the markers passed.
  expect(found(shown, fileMarkers)).toEqual(fileMarkers.filter((marker) => marker !== 'zebra-bytes'));
  await relay.call('createSession', { body: { deviceId: daemon.deviceId, message: 'giraffe' } });
  const kept = (await dumpDatabase(relay)) + (await dumpTestBus());
  expect(found(kept, ['giraffe', ...fileMarkers])).toEqual(['giraffe']);
  expect(found(kept, [Buffer.from('zebra-bytes').toString('base64')])).toEqual([]);
});
