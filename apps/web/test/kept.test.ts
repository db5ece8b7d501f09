import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { forgetPerson } from '../src/forget.ts';
import { chooseLast, keepsLast } from '../src/offline/kept.ts';

const names = ['localStorage', 'sessionStorage', 'indexedDB', 'matchMedia', 'navigator'] as const;
const before = names.map((name) => Object.getOwnPropertyDescriptor(globalThis, name));
let deleted: string[];

/** The parts of a browser that saving and deleting need. */
const storage = () =>
  Object.defineProperties<Record<string, unknown>>(
    {},
    {
      getItem: {
        value: function (this: Record<string, string>, key: string) {
          return this[key] ?? null;
        },
      },
      setItem: {
        value: function (this: Record<string, string>, key: string, text: string) {
          this[key] = text;
        },
      },
      removeItem: {
        value: function (this: Record<string, string>, key: string) {
          delete this[key];
        },
      },
    },
  );

beforeEach(() => {
  deleted = [];
  const inTab = {
    localStorage: storage(),
    sessionStorage: storage(),
    indexedDB: { deleteDatabase: (name: string) => void deleted.push(name) },
    matchMedia: () => ({ matches: false }),
    navigator: {},
  };
  for (const name of names) Object.defineProperty(globalThis, name, { configurable: true, value: inTab[name] });
});
afterEach(() => {
  names.forEach((name, index) => {
    const old = before[index];
    if (old) Object.defineProperty(globalThis, name, old);
    else Reflect.deleteProperty(globalThis, name);
  });
});

it('W3: a browser tab keeps its last content', () => {
  expect(keepsLast()).toBe(true);
});

it('W3: a person can turn it off, and it stays off after the sign-out', () => {
  chooseLast(false);
  expect(keepsLast()).toBe(false);
  localStorage.setItem('relay.draft', 'mine');
  forgetPerson();
  expect(localStorage.getItem('relay.draft')).toBeNull();
  expect(keepsLast()).toBe(false);
  chooseLast(true);
  expect(keepsLast()).toBe(true);
});

it('W3: a sign-out deletes the kept content', () => {
  forgetPerson();
  expect(deleted).toContain('relay-last');
});
