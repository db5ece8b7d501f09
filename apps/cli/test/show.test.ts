import { describe, expect, it } from '@jest/globals';
import type { Terminal } from '@relay/machine';
import { shortNames } from '../src/naming.ts';
import { itemLine, questionText, toolText } from '../src/show/item.ts';
import { promptText } from '../src/show/question.ts';
import { styleOf } from '../src/show/style.ts';
import { tableOf } from '../src/show/table.ts';
import { fitted, oneLine, plain, widthOf } from '../src/show/text.ts';
import { ago } from '../src/show/times.ts';

const screen = (env: NodeJS.ProcessEnv = {}, columns = 40) =>
  ({ outIsScreen: true, columns, env, mark: '\u001b' }) as Terminal;

const plainStyle = styleOf({ ...screen(), outIsScreen: false });

describe('untrusted text', () => {
  it('S6: shows control characters as text, drops colours, and keeps the rest', () => {
    expect(plain('a\u001b[2Jb\u001b]8;;http://x\u0007c\u009b31me\u202ef\tg\r\nh\u001b[1;31mi\u001b[0m')).toBe(
      'a\\u001b[2Jb\\u001b]8;;http://x\\u0007c\\u009b31me\\u202ef\tg\nhi',
    );
    expect(plain('naïve — 電腦 👩‍💻')).toBe('naïve — 電腦 👩‍💻');
    expect(oneLine(' a\n\n b\tc ')).toBe('a b c');
  });

  it('is measured and cut in columns', () => {
    expect(widthOf('電腦')).toBe(4);
    expect(fitted('電腦電腦', 5)).toBe('電腦…');
    expect(fitted('short', 5)).toBe('short');
  });
});

describe('a question', () => {
  const asked = { prompt: 'Permission required for: Bash', result: '', options: [], at: '2026-01-01T00:00:00.000Z' };

  it('F4: appears with its subject, once', () => {
    expect(promptText({ ...asked, context: 'rm -rf ./build' }, 'd:a:n', plainStyle)).toContain(
      'The agent asks: Permission required for: Bash\nrm -rf ./build\n',
    );
    expect(promptText({ ...asked, context: 'Bash' }, 'd:a:n', plainStyle)).toMatch(/for: Bash\nAnswer with/);
    expect(promptText(asked, 'd:a:n', plainStyle)).toMatch(/for: Bash\nAnswer with/);
  });
});

describe('colours', () => {
  it('appear only on screens that support them', () => {
    expect(styleOf(screen())('red', 'x')).toBe('\u001b[31mx\u001b[39m');
    expect(styleOf(screen({ NO_COLOR: '1' }))('red', 'x')).toBe('x');
    expect(styleOf(screen({ TERM: 'dumb' }))('red', 'x')).toBe('x');
    expect(styleOf({ ...screen(), outIsScreen: false })('red', 'x')).toBe('x');
  });
});

describe('a table', () => {
  const columns = [{ title: 'ID' }, { title: 'TITLE', shrinks: true }];
  const rows = [[{ text: 'abcdefgh' }, { text: 'A very long title that does not fit on a narrow screen' }]];

  it('fits the screen, and never cuts an id', () => {
    const [, row] = tableOf(columns, rows, screen({ NO_COLOR: '1' })).split('\n');
    expect(row).toBe('abcdefgh  A very long title that does n…');
    expect(row).toHaveLength(40);
  });

  it('has its full width in a file', () => {
    expect(tableOf(columns, rows, { ...screen(), outIsScreen: false })).toContain('narrow screen');
  });
});

describe('short names of sessions', () => {
  it('have the length that distinguishes them', () => {
    const ids = [
      'd:a:11111111-aaaa-0000',
      'd:a:22222222-aaaa-0000',
      'd:a:short',
      'd:a:PENDING-01ARZ3NDEKTSV4RRFFQ69G5FAV',
      'e:a:short',
    ];
    expect([...shortNames(ids).values()]).toEqual([
      '1-aaaa-0000',
      '2-aaaa-0000',
      'd:a:short',
      '01ARZ3NDEKTSV4RRFFQ69G5FAV',
      'e:a:short',
    ]);
  });
});

describe('times', () => {
  it.each([
    [1000, 'just now'],
    [60_000, '1 min ago'],
    [3 * 3_600_000, '3 h ago'],
    [3 * 86_400_000, '3 days ago'],
    [90 * 86_400_000, '2025-10-03'],
  ])('%d ms ago is "%s"', (ms, text) => {
    const now = Date.parse('2026-01-01T00:00:00.000Z');
    expect(ago(new Date(now - ms).toISOString(), now)).toBe(text);
  });
});

describe('an item', () => {
  const item = (part: Record<string, unknown>) => ({
    ...{ uuid: 'a', role: 'AGENT' as const, content: '', timestamp: '2026-01-01T00:00:00.000Z', seq: 1 },
    part: { kind: 'tool', title: 'npm test', ...part },
  });
  const wish = { style: plainStyle, columns: 80, full: false };

  it('W1: has a tick only for a completed call', () => {
    for (const status of ['rejected', 'cancelled', 'unknown', 'interrupted', 'failed', 'running', undefined]) {
      const word = status === undefined || status === 'interrupted' ? 'unknown' : status;
      const one = item(status === undefined ? {} : { status });
      expect(toolText(one, wish)).toMatch(new RegExp(`^[^✔].* npm test · ${word}\\n$`));
      expect(itemLine(one)).toBe(word === 'running' ? '' : `${word === 'failed' ? '✘' : '⊘'} npm test · ${word}`);
    }
    expect(toolText(item({ status: 'completed' }), wish)).toMatch(/^✔ .* npm test · completed\n$/);
  });

  it('W1: has no tick for a question answered with No', () => {
    const options = ['allow_once', 'reject_once'].map((kind) => ({ id: kind, label: kind, kind }));
    const asked = (option: string) =>
      questionText(
        item({ kind: 'question', state: 'answered', question: { title: 'Run?', options }, answer: { option } }),
        wish,
      );
    expect(asked('allow_once')).toMatch(/^✔/);
    expect(asked('reject_once')).toMatch(/^⊘/);
  });
});
