/** The program itself against every rule for daemons, with an agent that plays a script and with an ACP agent. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { type DeviceIdentity, type Subject, daemonChecks, runDaemonCheck } from '@relay/daemon-kit/conformance';
import { makePrivateFolder } from '@relay/daemon-kit';
import { type AgentChoice, writeConfig } from '../src/config.ts';
import { writeCredentials } from '../src/credentials.ts';
import { homeOf } from '../src/home.ts';
import { house } from './house.ts';
import { startProgram } from './program.ts';

const home = house();
afterEach(() => home.clear());

function registeredAs({ server, deviceId, refreshToken, agentType }: DeviceIdentity, agent: AgentChoice): string {
  const folder = home.folder();
  const place = homeOf({ home: folder, env: {} });
  makePrivateFolder(place.configDir);
  writeConfig(place, {
    server,
    device_id: deviceId,
    hostname: 'my-host',
    name: 'Checked',
    agent_type: agentType,
    registered_at: '2026-01-01T00:00:00.000Z',
    agent,
  });
  writeCredentials(place, refreshToken);
  return folder;
}

const agents: Record<string, () => AgentChoice> = {
  'the built-in demonstration': () => ({ kind: 'scripted' }),
  'an agent that speaks ACP': () => ({
    kind: 'acp',
    preset: 'demo',
    // A message into its turn is refused, whether or not its turn has begun when the message arrives.
    env: { DEMO_AGENT_HOME: home.folder(), DEMO_AGENT_STEER: 'refuse' },
  }),
};

describe.each(Object.keys(agents))('relay-daemon with %s', (name) => {
  it.each(daemonChecks.map((check) => [check.name, check] as const))('%s', async (_name, check) => {
    let said = () => '';
    const subject: Subject = {
      start(identity) {
        const program = startProgram(['up', '--home', registeredAs(identity, agents[name]!())]);
        said = program.err;
        return {
          async stop() {
            program.child.kill('SIGTERM');
            // A stubborn agent can delay the exit.
            const timer = setTimeout(() => program.child.kill('SIGKILL'), 20_000);
            await program.exit;
            clearTimeout(timer);
          },
        };
      },
    };
    // An instruction of 16 MiB passes through three processes, on busy machines.
    const { problem } = await runDaemonCheck(check, subject, { waitMs: 30_000 });
    expect(problem === undefined ? '' : `${problem}\n${said()}`).toBe('');
  });
});
