/** Homes for tests of the program. */
import { writeConfig } from '../src/config.ts';
import { writeCredentials } from '../src/credentials.ts';
import { homeOf } from '../src/home.ts';
import type { house } from './house.ts';
import { startProgram } from './program.ts';
import type { RelayDouble } from '@relay/daemon-kit/conformance';

export const token = 'rly_drt_very_secret';

/** A home that is registered at the relay, without the registration steps. */
export function registered(home: ReturnType<typeof house>, relay: RelayDouble) {
  const folder = home.folder();
  const place = homeOf({ home: folder, env: {} });
  writeConfig(place, {
    server: relay.url,
    device_id: 'device-1',
    hostname: 'my-host',
    name: 'My laptop',
    agent_type: 'claude_code',
    registered_at: '2026-01-01T00:00:00.000Z',
  });
  writeCredentials(place, token);
  return folder;
}

/** A running program that is always stopped after the test. */
export function running(home: ReturnType<typeof house>, folder: string, ...args: string[]) {
  const program = startProgram(['run', '--home', folder, ...args]);
  home.later(async () => {
    program.child.kill('SIGKILL');
    await program.exit;
  });
  return program;
}
