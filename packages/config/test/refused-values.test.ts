import { describe, expect, it } from '@jest/globals';
import { ConfigError, describeVariables, readConfig } from '../src/index.ts';
import { messagesOf, problemsOf } from './problems.ts';

const refused: readonly (readonly [variable: string, value: string, valid: RegExp])[] = [
  ['PORT', 'abc', /a whole number from 0 to 65535/],
  ['PORT', '65536', /a whole number from 0 to 65535/],
  ['PORT', '4000.5', /a whole number/],
  ['PORT', '0x10', /a whole number/],
  ['PORT', '9'.repeat(40), /a whole number/],
  ['HOST', 'http://localhost', /a host name or an address/],
  ['PUBLIC_URL', 'relay.example.com', /an http or https address/],
  ['PUBLIC_URL', 'ftp://relay.example.com', /an http or https address/],
  ['PUBLIC_URL', 'https://relay.example.com/?a=b', /without user, query and fragment/],
  ['PUBLIC_URL', 'https://relay.example.com/#a', /without user, query and fragment/],
  ['ALLOWED_ORIGINS', '*', /a comma list of origins; "\*" is not an origin/],
  ['ALLOWED_ORIGINS', 'https://a.example.com/path', /is not an origin/],
  ['ALLOWED_ORIGINS', 'https://a.example.com,null', /"null" is not an origin/],
  ['TRUST_PROXY', 'true', /a number of proxies/],
  ['TRUST_PROXY', '11', /1 to 10/],
  ['TRUST_PROXY', '10.0.0.0/33', /networks such as/],
  ['TRUST_PROXY', '10.0.0.0/8/8', /networks such as/],
  ['TRUST_PROXY', ',', /networks such as/],
  ['DATA_DIR', 'a\0b', /a path/],
  ['AUTH_BUILTIN', 'true', /on or off/],
  ['AUTH_DEV_ISSUER', 'ON', /on or off/],
  ['AUTH_SIGNUP', 'everyone', /one of invite, open, closed/],
  ['OPERATOR_CONTACT', 'javascript:alert(1)', /a mailto: or https address/],
  ['OPERATOR_CONTACT', 'mailto:ops', /a mailto: or https address/],
  ['AUTH_ISSUERS', '{', /this is not JSON/],
  ['AUTH_ISSUERS', '{}', /it is not a list/],
  ['AUTH_ISSUERS', '[1]', /entry 1 must be an object/],
  ['DAEMON_VERSIONS', '[]', /it is not an object/],
  ['FCM_URL', 'http://fcm.example.com', /an https address, or http of this machine/],
  ['APNS_KEY_ID', 'short', /ten capitals and digits/],
  ['APNS_TOPIC', 'com.example relay', /the bundle id of an app/],
  ['METRICS_PORT', '-1', /a whole number from 0 to 65535/],
  ['LOG_LEVEL', 'verbose', /one of fatal, error, warn, info, debug, trace, silent/],
  ['OTEL_TRACES_SAMPLER_ARG', '1.1', /a number from 0 to 1/],
  ['OTEL_TRACES_SAMPLER_ARG', '.5', /a number from 0 to 1/],
  ['INSTANCE_NAME', 'two words', /a name of letters/],
  ['DRAIN_SECONDS', '3601', /a whole number of seconds from 0 to 3600/],
  ['RATE_LIMIT_PER_MINUTE', '0', /a whole number of requests from 1/],
  ['QUEUE_LIMIT', '1e3', /a whole number of messages/],
  ['PING_INTERVAL_MS', '0', /a whole number of milliseconds from 1 to 2147483647/],
  ['PING_INTERVAL_MS', '2147483648', /to 2147483647/],
  ['QUEUE_TTL_DEFAULT_SECONDS', '86401', /a whole number of seconds from 0 to 86400/],
];

const contacts: readonly (readonly [contact: string, isTaken: boolean])[] = [
  ['mailto:ops@example.org', true],
  ['https://relay.example.org/contact', true],
  ['mailto:ops@localhost', false],
  ['mailto:ops@relay.local', false],
  ['mailto:ops', false],
  ['https://localhost:4000', false],
  ['https://192.168.1.4', false],
  ['https://[2001:db8::1]', false],
  ['https://relay.home.arpa', false],
  ['http://relay.example.org', false],
];

describe('PUSH_CONTACT', () => {
  it('B10: stops the start unless push services accept the contact', () => {
    const taken = contacts.map(([contact]) => problemsOf('standalone', { PUSH_CONTACT: contact }).length === 0);
    expect(taken).toEqual(contacts.map(([, isTaken]) => isTaken));
  });
});

describe('an unusable value', () => {
  it('makes one problem, which names its variable and the valid values', () => {
    const violations = refused.flatMap(([variable, value, valid]) => {
      const problems = problemsOf('standalone', { [variable]: value });
      const isOne = problems.length === 1 && problems[0]?.variable === variable;
      const message = problems.map((problem) => problem.message).join(' ');
      return isOne && message.includes(`${variable} is `) && valid.test(message)
        ? []
        : [`${variable}=${value}: ${message || 'no problem'}, instead of ${valid}`];
    });
    expect(violations).toEqual([]);
  });

  it('fails for every numeric variable of the table', () => {
    const numeric = describeVariables().filter(({ kind }) => kind === 'int' || kind === 'port');
    expect(numeric.length).toBeGreaterThan(20);
    for (const { name } of numeric) expect(problemsOf('standalone', { [name]: 'soon' })[0]?.variable).toBe(name);
  });

  it('is shown, cut at 80 characters', () => {
    const [message] = messagesOf('standalone', { LOG_LEVEL: 'x'.repeat(500) });
    expect(message).toContain(`"${'x'.repeat(80)}…"`);
  });

  it.each([
    ['DATABASE_URL', 'mysql://relay:hunter2@db/relay'],
    ['REDIS_URL', 'relay:hunter2@redis'],
    ['AUTH_SECRET', `${'a'.repeat(32)},hunter2`],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'hunter2'],
    ['PUBLIC_URL', 'https://relay:hunter2@relay.example.com'],
  ])('never shows a secret: %s', (variable, value) => {
    const messages = messagesOf('standalone', { [variable]: value });
    expect(messages).toHaveLength(1);
    expect(messages[0]).toContain(variable);
    expect(messages[0]).not.toContain('hunter2');
  });

  it('has a message made for the console', () => {
    expect(() => readConfig('standalone', { PORT: 'x' })).toThrow(
      new ConfigError([{ variable: 'PORT', message: 'PORT is "x"; it must be a whole number from 0 to 65535.' }]),
    );
  });
});
