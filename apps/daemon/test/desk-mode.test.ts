/** `--desk full|show|off`: the visibility of a machine's terminals to apps. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { makePrivateFolder, silentLog } from '@relay/daemon-kit';
import { agentOf } from '../src/agents/choice.ts';
import { deskModeOf } from '../src/commands/place-options.ts';
import { readConfig, writeConfig } from '../src/config.ts';
import { homeOf } from '../src/home.ts';
import { temporaryFolders } from '@relay/testing/folders';

const folders = temporaryFolders();
afterEach(() => folders.remove());

const agentWith = (desk: 'full' | 'show' | 'off') => {
  const [stateDir, project] = [folders.make(), folders.make()];
  const rules = { defaultPath: project, allowed: [project] };
  return agentOf({ kind: 'acp', preset: 'claude_code' }, { rules, stateDir, log: silentLog, desk }).agent;
};

describe('--desk', () => {
  it('44: reports programs with full and show, and neither reports nor asks with off', () => {
    expect(agentWith('full').holders).toBeDefined();
    expect(agentWith('show').holders).toBeDefined();
    expect(agentWith('off').holders).toBeUndefined();
  });

  it('44: accepts three values, and register keeps them', () => {
    expect(deskModeOf({})).toBeUndefined();
    expect(deskModeOf({ desk: 'show' })).toBe('show');
    expect(() => deskModeOf({ desk: 'never' })).toThrow('--desk must be full, show or off.');
    const home = homeOf({ home: folders.make(), env: {} });
    const config = {
      server: 'http://127.0.0.1:1',
      device_id: 'd',
      hostname: 'h',
      name: 'n',
      agent_type: 'claude_code',
      registered_at: '2026-01-01T00:00:00.000Z',
    };
    makePrivateFolder(home.configDir);
    writeConfig(home, { ...config, desk: 'off' });
    expect(readConfig(home)).toMatchObject({ desk: 'off' });
    writeConfig(home, { ...config, desk: 'never' as 'off' });
    expect(() => readConfig(home)).toThrow('"desk" must be full, show or off');
  });
});
