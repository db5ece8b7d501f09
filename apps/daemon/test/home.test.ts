import { afterEach, describe, expect, it } from '@jest/globals';
import { chmodSync, mkdirSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { daemonSocketAddress, serverAddress } from '@relay/daemon-kit';
import { travelsInClear } from '@relay/protocol';
import { readConfig, requireConfig, writeConfig } from '../src/config.ts';
import { readCredentials, writeCredentials } from '../src/credentials.ts';
import { homeOf } from '../src/home.ts';
import { temporaryFolders } from '@relay/testing/folders';

const folders = temporaryFolders();
afterEach(() => folders.remove());
const newHome = () => homeOf({ home: folders.make(), env: {} });
const config = {
  server: 'http://localhost:4000',
  device_id: 'd1',
  hostname: 'h',
  name: 'n',
  agent_type: 'scripted',
  registered_at: '2026-01-01T00:00:00.000Z',
};

describe('the home of the daemon', () => {
  it('follows XDG, RELAY_DAEMON_HOME overrides it, and --home overrides both', () => {
    expect(homeOf({ env: { HOME: '/u' } })).toMatchObject({
      configFile: '/u/.config/relay-daemon/config.json',
      stateDir: '/u/.local/state/relay-daemon',
    });
    const xdg = { HOME: '/u', XDG_CONFIG_HOME: '/c', XDG_STATE_HOME: 'not/absolute' };
    expect(homeOf({ env: xdg })).toMatchObject({
      configDir: '/c/relay-daemon',
      stateDir: '/u/.local/state/relay-daemon',
    });
    expect(homeOf({ env: { ...xdg, RELAY_DAEMON_HOME: '/r' } })).toMatchObject({
      configDir: '/r',
      stateDir: '/r/state',
    });
    expect(homeOf({ home: '/h', env: { RELAY_DAEMON_HOME: '/r' } })).toMatchObject({ configDir: '/h' });
  });
});

describe('the config record', () => {
  it('reads back as written, and is replaced as a whole', () => {
    const home = newHome();
    expect(readConfig(home)).toBeUndefined();
    writeConfig(home, config);
    expect(readConfig(home)).toEqual(config);
    expect(readdirSync(home.configDir)).toEqual(['config.json']);
  });

  it('explains how to register if it is missing', () => {
    expect(() => requireConfig(newHome())).toThrow(/relay-daemon register/);
  });

  it.each(['{', 'null', '[]', '{"server":"x"}', JSON.stringify({ ...config, device_id: '' })])(
    'that contains %s is refused, not read as empty',
    (text) => {
      const home = newHome();
      writeFileSync(home.configFile, text);
      expect(() => readConfig(home)).toThrow(/register --force/);
    },
  );

  it('contains an address without a trailing slash; it accepts only http and https', () => {
    expect(serverAddress('https://relay.example.com/base//')).toBe('https://relay.example.com/base');
    for (const text of ['', 'localhost:4000', 'ftp://x', 'http://u:p@x', 'http://x/?q=1', 'http://x/#f']) {
      expect(() => serverAddress(text)).toThrow(/Example/);
    }
    expect(daemonSocketAddress('http://localhost:4000')).toBe('ws://localhost:4000/ws/daemon');
    expect(daemonSocketAddress('https://relay.example.com/base')).toBe('wss://relay.example.com/base/ws/daemon');
  });

  it('detects that the credential would travel unencrypted', () => {
    for (const server of ['http://localhost:4000', 'http://127.0.0.1', 'http://[::1]:1', 'https://relay.example.com']) {
      expect(travelsInClear(server)).toBe(false);
    }
    for (const server of ['http://relay.example.com', 'http://192.168.1.2:4000', 'http://localhost.example.com']) {
      expect(travelsInClear(server)).toBe(true);
    }
  });
});

describe('the credentials file', () => {
  it('belongs to its owner alone, with any earlier file and umask', () => {
    const home = newHome();
    writeFileSync(home.credentialsFile, 'old', { mode: 0o666 });
    chmodSync(home.credentialsFile, 0o666);
    const before = process.umask(0);
    try {
      writeCredentials(home, 'rly_drt_x');
    } finally {
      process.umask(before);
    }
    expect(statSync(home.credentialsFile).mode & 0o777).toBe(0o600);
    expect(readCredentials(home)).toBe('rly_drt_x');
    expect(readFileSync(home.credentialsFile, 'utf8')).not.toContain('old');
  });

  it('is refused if other users can read it, if it is a link or a folder, and if it is missing', () => {
    const readable = newHome();
    writeCredentials(readable, 'rly_drt_x');
    chmodSync(readable.credentialsFile, 0o640);
    expect(() => readCredentials(readable)).toThrow(/chmod 600/);
    const link = newHome();
    writeFileSync(join(link.configDir, 'elsewhere'), '{"refresh_token":"x"}', { mode: 0o600 });
    symlinkSync('elsewhere', link.credentialsFile);
    expect(() => readCredentials(link)).toThrow(/not a regular file/);
    const folder = newHome();
    mkdirSync(folder.credentialsFile);
    expect(() => readCredentials(folder)).toThrow(/not a regular file/);
    expect(() => readCredentials(newHome())).toThrow(/does not exist/);
  });

  it('that cannot be parsed is refused without printing its content', () => {
    for (const text of ['rly_drt_secret', '{"refresh_token":1}', '{"refresh_token":"rly_drt_secret\\r\\nX: y"}']) {
      const home = newHome();
      writeFileSync(home.credentialsFile, text, { mode: 0o600 });
      expect(() => readCredentials(home)).toThrow(/holds no refresh token/);
      expect(() => readCredentials(home)).not.toThrow(/secret/);
    }
  });
});
