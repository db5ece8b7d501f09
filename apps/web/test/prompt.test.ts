import { describe, expect, it } from '@jest/globals';
import type { Prompt } from '@relay/protocol';
import { quickAnswers } from '../src/conversation/prompt.ts';

const question = (more: Partial<Prompt>): Prompt => ({
  id: 'q1',
  kind: 'permission',
  prompt: 'Run the tests?',
  result: '',
  options: [
    { id: 'yes', label: 'Allow once', kind: 'allow_once' },
    { id: 'no', label: 'Reject', kind: 'reject_once' },
  ],
  digest: 'd1',
  at: '2026-01-01T00:00:00.000Z',
  ...more,
});
const command = (text: string) => ({ type: 'command' as const, command: text, cwd: '/home/ada' });

describe('a permission is answered from a card', () => {
  it('when the card shows all that is allowed', () => {
    const given = [
      question({}),
      question({ subject: command('npm test') }),
      question({ subject: command('npm ci\nnpm test'), context: 'npm ci\nnpm test' }),
      question({ prompt: 'Use get_time?', subject: { type: 'tool', tool: 'get_time' } }),
    ];
    for (const one of given) expect(quickAnswers(one)).toMatchObject({ allow: { id: 'yes' }, reject: { id: 'no' } });
  });

  it('not when something is allowed that no card shows', () => {
    const input = '{"branch":"main"}';
    const given = [
      question({ prompt: 'Use delete_branch?', subject: { type: 'tool', tool: 'delete_branch', input } }),
      question({ prompt: 'Clean up?', subject: { type: 'tool', tool: 'delete_branch' } }),
      question({ context: 'in production' }),
      question({ subject: { type: 'edit', diffs: [] } }),
    ];
    for (const one of given) expect(quickAnswers(one)).toBeUndefined();
  });

  it('not when it is long, hides characters, or cannot be undone', () => {
    const given = [
      question({ prompt: 'long '.repeat(50) }),
      question({ subject: command('x'.repeat(201)) }),
      question({ prompt: 'Run the\u202e tests?' }),
      question({ subject: command('npm test\u200b') }),
      question({ subject: command('rm -rf build') }),
      question({ prompt: 'Run git push --force?' }),
    ];
    for (const one of given) expect(quickAnswers(one)).toBeUndefined();
  });
});
