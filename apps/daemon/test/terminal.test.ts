/** The bytes on the daemon's terminal never contain control characters from a relay or an agent (rules, 16.1). */
import { afterEach, describe, expect, it } from '@jest/globals';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { createLog } from '@relay/daemon-kit';
import { terminalOn } from '@relay/machine';
import { runCli } from '../src/cli.ts';
import { house } from './house.ts';

const home = house();
afterEach(() => home.clear());

const hostile = fc
  .array(
    fc.oneof(
      fc.integer({ min: 0, max: 0x9f }).map((code) => String.fromCharCode(code)),
      fc.constantFrom('\u001b[2J', '\u001b]8;;x\u0007', '\u009b31m', '\u202e', '\u2066', '\u200b', '\ufeff', '\r'),
      fc.string({ maxLength: 3 }),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));

/** A screen that keeps its output. */
function screen() {
  let bytes = '';
  const stdin = Readable.from([]);
  const stream = { isTTY: true, write: (text: string) => Boolean((bytes += text)) };
  const terminal = terminalOn({ stdin, stdout: stream, stderr: stream, env: {} });
  return { terminal, written: () => bytes };
}

const forbidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/;

describe('the terminal of relay-daemon', () => {
  it("S6: shows a registration, a refusal and the relay's status without a control character of the relay", async () => {
    const relay = await home.relay();
    await fc.assert(
      fc.asyncProperty(hostile, hostile, fc.boolean(), async (text, other, granted) => {
        const body = {
          device_code: 'dc',
          user_code: text || 'x',
          verification_uri_complete: other || 'x',
          expires_in: 900,
          interval: 0,
        };
        const denied = { status: 400, body: { error: text, error_description: other, code: other } };
        relay.answers.set('POST /api/devices/code', [{ status: 200, body }]);
        relay.answers.set('POST /api/devices/token', [
          granted ? { status: 200, body: { device_id: `d${text}`, refresh_token: 'secret' } } : denied,
        ]);
        relay.answers.set('GET /health', [{ status: 200, body: { status: 'ok', version: text } }]);
        const folder = home.folder();
        const { terminal, written } = screen();
        await runCli(['register', '--server', relay.url, '--home', folder], terminal);
        await runCli(['doctor', '--home', folder], terminal);
        await runCli(['status', '--home', folder], terminal);
        // The countdown restarts its line with its own control character.
        expect(written().replaceAll('\rWaiting for confirmation', '')).not.toMatch(forbidden);
      }),
      { numRuns: 25 },
    );
  });

  it('S6: logs texts of agents and relays without their control characters', () => {
    fc.assert(
      fc.property(hostile, hostile, fc.boolean(), (event, text, json) => {
        const { terminal, written } = screen();
        const log = createLog({ write: terminal.err, json, verbose: true });
        log.warn(event, { why: text });
        log.speech('agent said', { text });
        expect(written()).not.toMatch(forbidden);
        expect(written().trimEnd().split('\n')).toHaveLength(json ? 2 : 2 + event.split('\n').length - 1);
      }),
    );
  });
});
