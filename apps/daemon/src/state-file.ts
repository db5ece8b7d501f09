/** The last known connection state, for `relay-daemon status`. Nothing depends on it; it might be stale or missing. */
import { rmSync } from 'node:fs';
import type { DaemonState } from '@relay/daemon-kit';
import { readIfPresent, replaceOwnerFile } from '@relay/machine';
import type { Home } from './home.ts';

export function writeState(home: Home, state: DaemonState): void {
  replaceOwnerFile(home.stateFile, `${JSON.stringify(state)}\n`);
}

export function readState(home: Home): DaemonState | undefined {
  try {
    const text = readIfPresent(home.stateFile);
    const value: unknown = text === undefined ? undefined : JSON.parse(text);
    const isValid = typeof value === 'object' && value !== null && 'connection' in value && 'since' in value;
    return isValid ? (value as DaemonState) : undefined;
  } catch {
    return undefined;
  }
}

export function forgetState(home: Home): void {
  rmSync(home.stateFile, { force: true });
}
