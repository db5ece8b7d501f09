import { describe, expect, it } from '@jest/globals';
import type { Prompt } from '@relay/protocol';
import { commandOf, labelOf, questionOf, quickAnswers, shownOf } from '../src/conversation/prompt.ts';

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

describe('a permission can be answered in a card', () => {
  it('if the card shows everything that it allows', () => {
    const given = [
      question({}),
      question({ subject: command('npm test') }),
      question({ subject: command('npm ci\nnpm test'), context: 'npm ci\nnpm test' }),
      question({ prompt: 'Use get_time?', subject: { type: 'tool', tool: 'get_time' } }),
    ];
    for (const one of given) expect(quickAnswers(one)).toMatchObject({ allow: { id: 'yes' }, reject: { id: 'no' } });
  });

  it('unless it allows something that no card shows', () => {
    const input = '{"branch":"main"}';
    const given = [
      question({ prompt: 'Use delete_branch?', subject: { type: 'tool', tool: 'delete_branch', input } }),
      question({ prompt: 'Clean up?', subject: { type: 'tool', tool: 'delete_branch' } }),
      question({ context: 'in production' }),
      question({ subject: { type: 'edit', diffs: [] } }),
    ];
    for (const one of given) expect(quickAnswers(one)).toBeUndefined();
  });

  it('unless it is long, hides characters, or cannot be undone', () => {
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

describe('the shown question', () => {
  const hiding = [
    '\u202e',
    '\u2066',
    '\u200b',
    '\u00ad',
    '\u3164',
    '\u2800',
    '\u115f',
    '\u{e0041}',
    '\u001b',
    '\u2028',
  ];

  it.each(hiding.map((sign) => [`\\u{${sign.codePointAt(0)!.toString(16)}}`, sign] as const))(
    'S6: marks %s, and cannot be answered in a card',
    (mark, sign) => {
      const given = question({
        prompt: `Run${sign}it?`,
        context: `a${sign}b`,
        subject: {
          type: 'command',
          command: `rm ${sign}x`,
          cwd: `/home/${sign}ada`,
          input: `{"${sign}":1}`,
          tool: `Ba${sign}sh`,
        },
        options: [{ id: `y${sign}`, label: `Al${sign}low`, kind: 'allow_once' }],
      });
      const shown = shownOf(given);
      expect(shown.prompt).toBe(`Run${mark}it?`);
      expect(shown.subject).toMatchObject({
        command: `rm ${mark}x`,
        cwd: `/home/${mark}ada`,
        input: `{"${mark}":1}`,
        tool: `Ba${mark}sh`,
      });
      // Ids stay unchanged, because an answer repeats them.
      expect(shown.options[0]).toMatchObject({ id: `y${sign}`, label: `Al${mark}low` });
      expect([questionOf(given), labelOf(given.options[0]!)]).toEqual([`Run${mark}it?`, `Al${mark}low`]);
      expect(quickAnswers(question({ prompt: `Run${sign}it?` }))).toBeUndefined();
    },
  );

  it('S6: shows the folder with the command, even a folder with a line break', () => {
    expect(commandOf(command('npm test'))).toBe('npm test\n# /home/ada');
    expect(commandOf({ type: 'command', command: 'ls', cwd: '/tmp\n/safe' })).toBe('ls\n# /tmp /safe');
    expect(commandOf({ type: 'command', command: 'ls' })).toBe('ls');
  });

  it('S6: leaves emoji, joiners of scripts, lines and tabs alone', () => {
    for (const text of ['👩‍💻', 'می‌خواهم', 'a\n\tb', 'ü é 日本'])
      expect(questionOf(question({ prompt: text }))).toBe(text);
  });
});
