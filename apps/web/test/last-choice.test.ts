import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { Device } from '@relay/protocol';
import { firstMachine, readLastChoice, rememberChoice } from '../src/pages/last-choice.ts';

const before = Object.getOwnPropertyDescriptor(globalThis, 'localStorage');
beforeEach(() => {
  const kept = new Map<string, string>();
  const value = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, text: string) => kept.set(key, text),
  };
  Object.defineProperty(globalThis, 'localStorage', { configurable: true, value });
});
afterEach(() => {
  if (before) Object.defineProperty(globalThis, 'localStorage', before);
  else Reflect.deleteProperty(globalThis, 'localStorage');
});

const machine = (id: string, status: Device['status']) => ({ id, status }) as Device;

it('W8: a new session prefers the machine of the last one, unless only another is online', () => {
  const [nuc, mac] = [machine('nuc', 'online'), machine('mac', 'online')];
  expect(firstMachine([nuc, mac], 'mac')).toBe(mac);
  const off = machine('mac', 'offline');
  expect(firstMachine([nuc, off], 'mac')).toBe(nuc);
  expect(firstMachine([machine('nuc', 'offline'), off], 'mac')).toBe(off);
  expect(firstMachine([off], 'gone')).toBe(off);
});

it('W8: a new session starts with the last folder of its machine', () => {
  rememberChoice('mac', 'codex', '~/code/garden');
  rememberChoice('nuc', 'demo', '');
  expect(readLastChoice()).toEqual({
    device: 'nuc',
    agents: { mac: 'codex', nuc: 'demo' },
    folders: { mac: '~/code/garden', nuc: '' },
  });
});

it('W8: a choice from an older release lacks folders', () => {
  localStorage.setItem('relay.new-session', '{"device":"mac","agents":{"mac":"codex"}}');
  expect(readLastChoice()).toEqual({ device: 'mac', agents: { mac: 'codex' }, folders: {} });
});
