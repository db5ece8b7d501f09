import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Client } from '@relay/client';
import type { AuditEntry, Device, Message, Session } from '@relay/protocol';
import { type ComponentType, createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { Router } from 'wouter';
import { sentenceFor } from '../src/api/words.ts';
import { loadWords } from '../src/catalogue.ts';
import { withoutQuestions } from '../src/conversation/prompt.ts';
import { Nudge } from '../src/conversation/nudge.tsx';
import { together } from '../src/pages/audit-cards.ts';
import { turnOn } from '../src/push/browser.ts';
import { RoomsProvider } from '../src/rooms.ts';
import { AskCard } from '../src/sessions/ask-card.tsx';
import { ContentsContext } from '../src/transcript/contents.ts';
import { Terminal } from '../src/transcript/parts/terminal.tsx';
import { fromHit, hitOf } from '../src/sessions/row.tsx';
import { Mark } from '../src/transcript/parts/small-parts.tsx';
import { chosenTheme, showTheme } from '../src/theme.ts';
import { productName } from '../src/pages/product-name.ts';
import { distinct } from '../src/ui/device-list.ts';

beforeAll(() => loadWords('frame', 'session', 'settings', 'errors', 'machines'));

/** Stubbed globals of a browser, for one test. */
const stubbed: string[] = [];
function stub(parts: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(parts)) {
    if (!(name in globalThis)) stubbed.push(name);
    Object.defineProperty(globalThis, name, { configurable: true, writable: true, value });
  }
}
afterEach(() => {
  for (const name of stubbed.splice(0)) Reflect.deleteProperty(globalThis, name);
});

const session = {
  id: 's',
  deviceId: 'd',
  title: 'Garden',
  projectPath: '/garden',
  watched: true,
  status: 'waiting',
  prompt: { id: 'q', at: '', prompt: 'Shall I water the roses?', result: '', options: [] },
} as unknown as Session;
const rooms = { client: {}, place: { base: '' }, live: {}, inbox: {} } as never;
/** Renders the first state of a component. */
const shown = <Props extends object>(component: ComponentType<Props>, props: Props) =>
  renderToStaticMarkup(
    createElement(Router, {
      ssrPath: '/sessions/s',
      children: createElement(RoomsProvider, { value: rooms }, createElement(component, props)),
    }),
  );

it('W14: an unreachable push service is named, with an alternative', async () => {
  stub({
    window: globalThis,
    isSecureContext: true,
    Notification: { requestPermission: () => Promise.resolve('granted') },
    navigator: {
      userAgent: 'Firefox',
      serviceWorker: {
        register: () => Promise.resolve({}),
        ready: Promise.resolve({
          pushManager: {
            getSubscription: () => Promise.resolve(null),
            subscribe: () => Promise.reject(new Error('Registration failed - push service error')),
          },
        }),
      },
    },
  });
  const place = { publicUrl: 'https://relay.example', base: '', isElsewhere: false };
  await expect(turnOn({} as Client, place, 'AAAA')).rejects.toMatchObject({ code: 'PUSH_OUT_OF_REACH' });
  expect(sentenceFor({ code: 'PUSH_OUT_OF_REACH', message: '', retryAfterSeconds: undefined })).toMatch(
    /push service.*ntfy/,
  );
});

it('W16: another question is one line in the list', () => {
  const device = undefined;
  const line = shown(AskCard, { session, device, item: undefined, isLine: true });
  expect(line).toContain('Shall I water the roses?');
  expect(line).not.toContain('<button');
  expect(line).not.toContain('class="acts"');
  expect(shown(AskCard, { session, device, item: undefined })).toContain('class="acts"');
});

it('W17: notifications are not offered when a session is opened', () => {
  const Notification = { permission: 'default' };
  const localStorage = { getItem: () => null };
  stub({
    Notification,
    localStorage,
    isSecureContext: true,
    PushManager: {},
    navigator: { serviceWorker: {} },
    window: globalThis,
  });
  expect(shown(Nudge, { session: { ...session, prompt: undefined, status: 'idle' } })).toBe('');
});

it('W18: the log omits the text of an open question and shows the text of an answered one', () => {
  const message = (uuid: string, more = {}) =>
    ({ uuid, role: 'AGENT', content: 'Which bed?', timestamp: '', ...more }) as Message;
  const item = message('q', { part: { kind: 'question' } });
  const open = [{ id: 'q', prompt: 'Which bed?' }];
  const other = message('a', { content: 'The roses have water.' });
  const choices = message('b', { content: 'Which bed?\n\nNorth: in the shade' });
  expect(withoutQuestions([other, message('q'), message('x'), choices, item], open)).toEqual([other, item]);
  expect(withoutQuestions([message('q')], [])).toEqual([message('q')]);
});

it('W20: a truncated output has one button for all of it', () => {
  const text = Array.from({ length: 40 }, (_, index) => `line ${index}`).join('\n');
  const buttons = (props: object) =>
    renderToStaticMarkup(
      createElement(
        ContentsContext,
        { value: () => Promise.resolve(new Uint8Array()) },
        createElement(Terminal, { uuid: 'u', text, label: 'Output', ...props }),
      ),
    ).match(/Show [^<]*/g);
  expect(buttons({ left: 5000, name: 'output' })).toEqual(['Show all output']);
  expect(buttons({})).toEqual(['Show all 40 lines']);
});

describe('W22: texts of the page', () => {
  it('W22: replace a known mark of the daemon and its English text', () => {
    const html = renderToStaticMarkup(createElement(Mark, { what: 'cancelled', text: 'Cancelled.' }));
    expect(html).toContain('You stopped the agent here.');
    expect(html).not.toContain('Cancelled.');
    expect(renderToStaticMarkup(createElement(Mark, { what: 'new', text: 'The plan has changed.' }))).toContain(
      'The plan',
    );
  });
});

describe('W23: names', () => {
  it('W23: show the product name of an agent, never a raw id', () => {
    expect(productName({ agentType: 'acp' })).toBe('Agent');
    expect(productName({ agentType: 'demo' })).toBe('Demo agent');
    expect(productName({ agentType: 'claude_code' })).toBe('Claude Code');
    expect(productName({ agentType: 'acp', name: 'Painter' })).toBe('Painter');
    expect(productName({ agentType: 'my_own-agent' })).toBe('My own agent');
  });

  it('W23: distinguish two machines of the same name', () => {
    const device = (id: string, name: string) => ({ id, name }) as Device;
    const names = distinct([device('b', 'Mac'), device('c', 'NUC'), device('a', 'Mac')]).map(({ name }) => name);
    expect(names).toEqual(['Mac (2)', 'NUC', 'Mac (1)']);
  });
});

it('W24: repeated actions on one target are one card, and another target gets its own', () => {
  const entry = (id: string, target?: string) =>
    ({ id, at: '', action: 'sendMessage', outcome: 'done', target }) as AuditEntry;
  expect(
    together([entry('1', 's'), entry('2', 's'), entry('3', 't'), entry('4', 's')]).map(({ count }) => count),
  ).toEqual([2, 1, 1]);
});

describe('W25: a search hit', () => {
  const long = `${'words before it '.repeat(20)}the needle in the hay`;
  it('W25: is in the visible part of the message', () => {
    expect(fromHit(long, 'NEEDLE')).toMatch(/^….{10,40}needle/);
    expect(fromHit('the needle', 'needle')).toBe('the needle');
    expect(fromHit(long, 'nowhere')).toBe(long);
  });
  it('W25: shows the folder if only that matches', () => {
    expect(hitOf('Done.', 'Title', '/home/ada/garden', 'garden')).toBe('/home/ada/garden');
    expect(hitOf('Done.', 'The garden', '/home/ada/garden', 'garden')).toBe('Done.');
    expect(hitOf('Done.', 'Title', '/home/ada', '')).toBe('Done.');
  });
});

it('W25: a theme is the choice of the person, or else that of the system', () => {
  const dataset: Record<string, string> = {};
  const root = { dataset } as unknown as HTMLElement;
  showTheme('dark', root);
  expect(dataset).toEqual({ theme: 'dark' });
  showTheme(undefined, root);
  expect(dataset).toEqual({});
  expect(chosenTheme()).toBeUndefined();
});
