/** A program as the daemon under test. It finds the relay and its credential in four variables, and each start has a folder of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DeviceIdentity, Subject } from './check.ts';

/** The names of the variables: RELAY_SERVER, RELAY_DEVICE_ID, RELAY_REFRESH_TOKEN, RELAY_AGENT_TYPE, and RELAY_HOME for files. */
const variablesOf = (identity: DeviceIdentity, folder: string) => ({
  RELAY_SERVER: identity.server,
  RELAY_DEVICE_ID: identity.deviceId,
  RELAY_REFRESH_TOKEN: identity.refreshToken,
  RELAY_AGENT_TYPE: identity.agentType,
  RELAY_HOME: folder,
});

const killAfterMs = 3000;

export function programSubject(
  program: string,
  args: readonly string[],
  onOutput: (text: string) => void = () => undefined,
): Subject {
  return {
    start(identity) {
      const folder = mkdtempSync(join(tmpdir(), 'relay-check-daemon-'));
      const child = spawn(program, args, { env: { ...process.env, ...variablesOf(identity, folder) }, stdio: 'pipe' });
      child.stdout.on('data', (chunk: Buffer) => onOutput(chunk.toString('utf8')));
      child.stderr.on('data', (chunk: Buffer) => onOutput(chunk.toString('utf8')));
      const gone = new Promise<void>((resolve) => {
        child.once('close', () => resolve());
        child.once('error', (error) => {
          onOutput(`${error.message}\n`);
          resolve();
        });
      });
      return {
        async stop() {
          await ended(child, gone);
          rmSync(folder, { recursive: true, force: true });
        },
      };
    },
  };
}

async function ended(child: ChildProcess, gone: Promise<void>): Promise<void> {
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), killAfterMs);
  await gone;
  clearTimeout(timer);
}
