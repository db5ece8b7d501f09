/** The bytes on the terminal never contain control characters from a relay, a daemon or an agent (rules, 16.1). */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Device, Session } from '@relay/protocol';
import { type Streams, terminalOn } from '@relay/machine';
import type { AnyFrame } from '../src/happenings.ts';
import { runCli } from '../src/cli.ts';
import type { SessionEvent } from '../src/follow.ts';
import { createOverview } from '../src/show/overview.ts';
import { createConversationView } from '../src/show/conversation-view.ts';
import { createDesk } from './desk.ts';
import { type RelayDouble, startRelayDouble } from '@relay/testing';

const desk = createDesk();
let relay: RelayDouble;
beforeEach(async () => {
  relay = await startRelayDouble();
});
afterEach(async () => {
  await desk.clear();
  await relay.close();
});

const hostile = fc
  .array(
    fc.oneof(
      fc.integer({ min: 0, max: 0x9f }).map((code) => String.fromCharCode(code)),
      fc.constantFrom(
        '\u001b[2J',
        '\u001b[8m',
        '\u001b]8;;x\u0007',
        '\u009b31m',
        '\u202e',
        '\u2066',
        '\u200b',
        '\ufeff',
        '\r',
      ),
      fc.string({ maxLength: 3 }),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));

/** A screen that keeps its output. */
function screen(env: NodeJS.ProcessEnv = {}) {
  let bytes = '';
  const stream = {
    isTTY: true,
    columns: 60,
    writableNeedDrain: false,
    write: (text: string) => Boolean((bytes += text)),
  };
  const terminal = terminalOn({ stdin: { isTTY: true }, stdout: stream, stderr: stream, env } as unknown as Streams);
  return { terminal, written: () => bytes };
}

const ownStyles = /\u001b\[(?:1|2|22|31|32|33|36|39)m/g;
const forbidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/;
/** Also checks that no text forged our styles: they come in pairs, and untrusted text was never between ESC and `m`. */
const expectHarmless = (written: string) => expect(written.replace(ownStyles, '')).not.toMatch(forbidden);

const record = fc.record({
  id: hostile.map((text) => `d1:a:${text}`),
  name: hostile,
  title: hostile,
  status: fc.oneof(hostile, fc.constant('waiting')),
  agentType: hostile,
  hostname: hostile,
  projectPath: hostile,
  lastSeenAt: fc.oneof(hostile, fc.constant('2026-01-01T00:00:00.000Z')),
  updatedAt: fc.oneof(hostile, fc.constant('2026-01-01T00:00:00.000Z')),
  deviceId: fc.constantFrom('d1', '\u001b[5m'),
  email: hostile,
  progress: fc.record({ action: hostile, target: hostile, at: hostile }),
  prompt: fc.record({
    prompt: hostile,
    options: fc.array(fc.record({ label: hostile }), { maxLength: 3 }),
    at: hostile,
  }),
  lastMessage: hostile,
  description: hostile,
  inputHint: hostile,
  scopes: fc.array(hostile, { maxLength: 2 }),
});

describe('the terminal of relay', () => {
  it('S6: shows answers of a relay without their control characters', async () => {
    const commands = [
      ['devices'],
      ['sessions'],
      ['whoami'],
      ['devices', 'show', 'd1:a:'],
      ['commands', 'd1:a:x'],
      ['sessions', '--json'],
    ];
    await fc.assert(
      fc.asyncProperty(
        record,
        hostile,
        fc.constantFrom(200, 400, 401, 404, 409, 500, 503),
        async (one, text, status) => {
          const body =
            status === 200
              ? {
                  ...one,
                  devices: [one],
                  sessions: [one],
                  commands: [one],
                  connections: [],
                  hasMore: false,
                  messages: [],
                }
              : { error: text, code: text || 'X', status };
          for (const path of ['me', 'devices', 'sessions', 'sessions/d1%3Aa%3Ax', 'sessions/d1%3Aa%3Ax/commands'])
            relay.answers.set(`GET /api/${path}`, [{ status, body, headers: { 'Retry-After': '60' } }]);
          for (const words of commands) {
            const { terminal, written } = screen({
              RELAY_CLI_CONFIG_DIR: desk.makeFolder(),
              RELAY_CLI_URL: relay.url,
              RELAY_CLI_TOKEN: 'token',
            });
            await runCli(words, terminal);
            expect(written()).not.toBe('');
            expectHarmless(written());
          }
        },
      ),
      { numRuns: 15 },
    );
  });

  it('S6: shows a conversation and every event without their control characters', () => {
    fc.assert(
      fc.property(record, hostile, hostile, (one, text, other) => {
        const { terminal, written } = screen();
        const session = one as unknown as Session;
        const message = { uuid: 'u', role: other, content: text, timestamp: other, truncated: true };
        const view = createConversationView(terminal, { heading: true });
        const overview = createOverview(terminal, { sessions: [session], devices: [one as unknown as Device] });
        for (const event of [
          { type: 'session_update', session },
          {
            type: 'session_update',
            session: { ...session, status: 'waiting', prompt: { ...one.prompt, at: 'later' } },
          },
          { type: 'new_message', sessionId: session.id, message },
          { type: 'task_output', sessionId: session.id, output: text },
          { type: 'device_status', deviceId: 'd1', status: other },
          { type: 'history_error', error: text, code: other },
          { type: 'connection', state: 'lost', why: text, waitMs: 1 },
        ]) {
          const { out = '', err = '' } = view(event as unknown as SessionEvent);
          terminal.out(out);
          terminal.err(err);
          terminal.out(overview(event as unknown as AnyFrame));
        }
        expectHarmless(written());
      }),
    );
  });

  it('S6: keeps its own styles, and untrusted text cannot write one', () => {
    const { terminal, written } = screen();
    terminal.out(
      createConversationView(terminal, { heading: true })({
        type: 'task_output',
        output: '\u001b[31mred',
      } as unknown as SessionEvent).out!,
    );
    terminal.out('\u001b[31mred\n');
    expect(written()).toBe('\u001b[2mred\n\u001b[22m\\u001b[31mred\n');
  });
});
