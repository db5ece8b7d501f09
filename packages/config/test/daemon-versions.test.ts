import { describe, expect, it } from '@jest/globals';
import { readConfig } from '../src/index.ts';
import { messagesOf } from './problems.ts';

const env = (policy: unknown): NodeJS.ProcessEnv => ({ DAEMON_VERSIONS: JSON.stringify(policy) });

describe('DAEMON_VERSIONS', () => {
  it('takes a policy per agent type (rules, 9.14)', () => {
    const policy = {
      claude_code: {
        min: '1.2.0',
        recommended: '1.4.0',
        latest: '1.5.0-beta.1',
        changelogUrl: 'https://example.com/log',
      },
      codex: {},
    };
    expect(readConfig('standalone', env(policy)).daemonVersions).toEqual(policy);
  });

  it('finds nothing under the names of built-in properties', () => {
    expect(readConfig('standalone', env({ codex: {} })).daemonVersions['constructor']).toBeUndefined();
  });

  it.each<readonly [string, unknown, RegExp]>([
    ['an agent type that cannot exist', { 'Claude Code': {} }, /"Claude Code" is not an agent type/],
    ['a policy that is not an object', { codex: '1.0' }, /"codex" must be an object/],
    ['a version that is a number', { codex: { min: 1 } }, /"min" of "codex" must be a version/],
    ['a version that is a word', { codex: { latest: 'new' } }, /"latest" of "codex" must be a version/],
    ['an unknown field', { codex: { minimum: '1.0' } }, /"minimum" of "codex" must be one of min, recommended/],
    ['a changelog that is no link', { codex: { changelogUrl: 'javascript:x' } }, /"changelogUrl" of "codex"/],
  ])('refuses %s', (_, policy, expected) => {
    const messages = messagesOf('standalone', env(policy));
    expect(messages).toHaveLength(1);
    expect(messages[0]).toMatch(expected);
  });
});
