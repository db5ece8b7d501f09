import { afterEach, describe, expect, it } from '@jest/globals';
import { readdirSync } from 'node:fs';
import { house } from './house.ts';
import { runProgram } from './program.ts';
import { registered, token } from './registered.ts';

const home = house();
afterEach(() => home.clear());

describe('relay-daemon unregister', () => {
  it.each([200, 204, 404])(
    'removes the device with its own credential; %d counts as success, and deletes everything except the history',
    async (status) => {
      const relay = await home.relay();
      relay.answers.set('DELETE /api/devices/device-1', [{ status }]);
      const folder = registered(home, relay);
      expect((await runProgram(['unregister', '--home', folder])).code).toBe(0);
      expect(relay.calls[0]?.headers.authorization).toBe(`Bearer ${token}`);
      expect(readdirSync(folder)).toEqual([]);
    },
  );

  it('deletes nothing if the relay is unreachable, unless forced', async () => {
    const relay = await home.relay();
    relay.answers.set('DELETE /api/devices/device-1', [{ status: 503 }]);
    const folder = registered(home, relay);
    const failed = await runProgram(['unregister', '--home', folder]);
    expect(failed.code).toBe(69);
    expect(readdirSync(folder)).toHaveLength(2);
    expect((await runProgram(['unregister', '--force', '--home', folder])).code).toBe(0);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('prints the next step when the credential is invalid', async () => {
    const relay = await home.relay();
    relay.answers.set('DELETE /api/devices/device-1', [{ status: 401 }]);
    const result = await runProgram(['unregister', '--home', registered(home, relay)]);
    expect(result.code).toBe(77);
    expect(result.err).toContain('--force');
  });

  it('reports that there is nothing to unregister', async () => {
    expect((await runProgram(['unregister', '--home', home.folder()])).code).toBe(78);
  });
});
