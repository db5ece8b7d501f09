/** The check of the documents reports planted violations; `npm run check` runs it on the tree. */
import { describe, expect, it } from '@jest/globals';
import { early, parse, shapeProblems, strays, unread } from '../scripts/documents/catalogue.mjs';
import { gonePhrases } from '../scripts/documents/phrases.mjs';
import {
  brokenLinks,
  misplacedRules,
  missingPaths,
  shortLogs,
  strayFiles,
  unknownCitations,
  unknownScripts,
  walk,
} from '../scripts/documents/pointers.mjs';
import {
  adminCommands,
  commandLines,
  foreignCommands,
  pageProblems,
  situationProblems,
} from '../scripts/documents/runbooks.mjs';
import { specificationProblems } from '../scripts/documents/specification.mjs';

describe('the check of the pointers', () => {
  it('reports a file of a walk that does not exist, or does not mention the example', () => {
    const text =
      '## Go\n\nThis follows `markRead`.\n\n1. `packages/protocol/src/routes/sessions.ts`\n2. `apps/api/src/gone.ts`\n   `README.md` `apps/api/src/deps.ts`\n\nAfter: `packages/config/src/kinds.ts`\n';
    expect(strayFiles(walk(text, 'Go'))).toEqual(['apps/api/src/gone.ts', 'apps/api/src/deps.ts']);
  });

  it('reports a link to a missing file, relative to its document', () => {
    const text = '[a](../README.md) [b](nowhere.md#here) [c](https://example.com/x.md) [d](#below)';
    expect(brokenLinks(text, 'docs/page.md')).toEqual(['nowhere.md#here']);
  });

  it('reports a script that does not exist, in prose and in a code block', () => {
    expect(unknownScripts('`npm run check`\n\n```sh\nnpm run --silent cheque\n```\n')).toEqual(['cheque']);
  });

  it('reports a path that does not exist, and looks for the source of a built file', () => {
    const text = '`apps/daemon/dist/main.js` `packages/nothing/src/a.ts`\n\n```sh\nnode scripts/gone.mjs\n```\n';
    expect(missingPaths(text)).toEqual(['packages/nothing/src/a.ts', 'scripts/gone.mjs']);
  });

  it('reports a log that kubectl would cut to ten lines, and not the log of a single object', () => {
    const text =
      '`kubectl logs job/a`\n\n```sh\nkubectl logs --selector a=b --since 9m | tail --tail\nkubectl logs --selector a=b --tail=-1\n```\n';
    expect(shortLogs(text)).toEqual(['kubectl logs --selector a=b --since 9m ']);
  });

  it('reports a rule, a chapter and an ADR that do not exist, also the second of a list and after a line break', () => {
    const text =
      "(rules, 2.1 and 99.1) Rules, chapter 99: x (specification §5;\n * rules,\n * 98.2) rule('97.3 GET /', '') ADR 6, 999 (contract §9) (transcript.md §3)";
    expect(unknownCitations(text)).toEqual([
      'contract §9',
      'transcript.md §3',
      '99.1',
      '98.2',
      '97.3',
      'chapter 99',
      'ADR 999',
    ]);
  });

  it('reports a repeated rule, and a rule in another chapter', () => {
    expect(misplacedRules('## 1. One\n- **1.1** a\n- **1.1** b\n## 2. Two\n- **1.2** c\n')).toEqual(['1.1', '1.2']);
  });
});

describe('the check of the runbooks', () => {
  it('reports a page without symptom, way in or way out', () => {
    const page =
      'Begin with [the first five minutes](README.md).\n\nPeople see: errors.\n\n- It is over when it works.\n';
    expect(pageProblems(page)).toEqual([]);
    expect(pageProblems('Restart it.')).toHaveLength(3);
  });

  it('reports a missing event, and an event that never ends', () => {
    expect(situationProblems('# x\n\n## Redis is full\n\nWait.\n')).toEqual([
      expect.stringContaining('has the events Redis is full, not PostgreSQL fails over'),
      '"Redis is full" has no line "It is over when …"',
    ]);
  });

  it('reports commands that the operator or the pod lacks', () => {
    const page =
      '```sh\nkubectl get pods\npsql -c x\nkubectl exec a -- redis-cli info\nkubectl exec a -- relay admin status\n```\n';
    expect(foreignCommands(commandLines(page))).toEqual(['psql -c x', 'kubectl exec a -- redis-cli info']);
    expect(adminCommands('Run `relay admin status`, then `admin gone`.')).toEqual(['status', 'gone']);
  });
});

describe('the check of the catalogue', () => {
  const source = (text: string) => parse('a.tsx', `import { words } from './catalogue.ts';\n${text}`);

  it('reports a text outside the catalogue, in an element, an attribute and a string', () => {
    const text = "const a = <p title={b ? 'Go' : x}>Send</p>;\nconst c = 'Your machines';\nconst d = <code>Npm</code>;";
    expect(strays('a.tsx', source(text))).toEqual(['a.tsx:2 Go', 'a.tsx:2 Send', 'a.tsx:3 Your machines']);
  });

  it('reports texts that a module reads while it loads', () => {
    expect(early('a.tsx', source('const a = words.send;\nconst b = () => words.send;'))).toEqual(['a.tsx:2 send']);
  });

  it('reports a key or a place that one language lacks, and an unread key', () => {
    const english = { send: 'Send {name}', count: (n: number) => `${n}`, list: { a: 'A' } };
    expect(shapeProblems(english, english)).toEqual([]);
    expect(shapeProblems(english, { send: 'Senden', count: english.count })).toHaveLength(3);
    expect(shapeProblems({ a: 'A', b: 'B' }, { b: 'B', a: 'A' })).toHaveLength(1);
    expect(unread(english, 'words.send words.list.a')).toEqual(['count']);
  });
});

describe('the check of the built pages', () => {
  it('reports replaced phrases', () => {
    expect(gonePhrases('Sessions')).toEqual([]);
    expect(gonePhrases('Go on with it. Your E-mail')).toEqual(['Go on with', '/e-mail/i']);
  });
});

describe('the check of the specification rows', () => {
  const check = (name: string, row: string, needs?: string) => ({ name, rows: [row], ...(needs && { needs }) });

  it('reports rows without checks, checks without rows, repetitions and names without a source', () => {
    const tables = [{ section: '5', rows: ['a', 'b', 'c', 'c'] }];
    const suite = [check('specification §5 a', '5 a'), check('specification §5 a', '5 b', 'slow'), check('odd', '5 d')];
    expect(specificationProblems(tables, suite)).toEqual([
      'no check covers the row "5 c"',
      'no check covers the row "5 c"',
      'only a check with --slow or another user covers the row "5 b"',
      'the specification has no row "5 d"',
      'specification-rows.json lists "5 c" twice',
      'two checks have the name "specification §5 a"',
      'the name "odd" does not begin with its source',
    ]);
  });
});
