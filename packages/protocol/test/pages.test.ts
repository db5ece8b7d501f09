/** docs/errors.md against the catalogue, both ways; the page of the protocol against the registry. */
import { describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ErrorRow, ErrorText } from '../src/errors/row.ts';
import { errorCatalogue, pollErrors, type Route, routes, taskErrors } from '../src/index.ts';
import { describedCloseCodes } from '../src/documents/close-meanings.ts';
import { anchor } from '../src/documents/markdown.ts';
import { protocolMarkdown } from '../src/documents/protocol.ts';
import { registry } from '../src/registry.ts';
import { violations } from './violations.ts';

const docs = join(import.meta.dirname, '../../../docs');
const page = (name: string) => (name === 'protocol.md' ? protocolMarkdown() : readFileSync(join(docs, name), 'utf8'));
/** The cells of every table row of a section, as a reader sees them. */
const rowsOf = (text: string, heading: string): string[][] => {
  const section = text.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? '';
  return section
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) => line.split(/(?<!\\)\|/).slice(1, -1))
    .map((cells) => cells.map((cell) => cell.trim().replaceAll('\\|', '|')))
    .slice(2);
};
const ticked = (value: string | number) => `\`${value}\``;

describe('docs/errors.md', () => {
  const errors = page('errors.md');

  it('has one row per code of the catalogue, and no other', () => {
    expect(rowsOf(errors, 'REST errors')).toEqual(
      Object.entries<ErrorRow>(errorCatalogue).map(([code, { status, sentence, note }]) => [
        String(status),
        ticked(code),
        [sentence, note ?? []].flat().join(' '),
      ]),
    );
  });

  it('has one row per string that polling answers, and no other', () => {
    expect(rowsOf(errors, 'Polling for a device')).toEqual(
      Object.entries(pollErrors).map(([name, meaning]) => [ticked(name), meaning]),
    );
  });

  it('has one row per code of a task, and no other', () => {
    expect(rowsOf(errors, 'Task errors')).toEqual(
      Object.entries<ErrorText>(taskErrors).map(([code, { sentence, note }]) => [
        ticked(code),
        [sentence, note ?? []].flat().join(' '),
      ]),
    );
  });

  it.each(['errors.md', 'protocol.md'])('has one row per close code, and no other, like %s', (name) => {
    expect(rowsOf(page(name), 'Close codes')).toEqual(
      describedCloseCodes.map(({ code, reason, comeBack, meaning }) => [
        ticked(code),
        reason,
        comeBack ? 'yes' : 'no',
        meaning,
      ]),
    );
  });
});

describe('the page of the protocol', () => {
  const protocol = page('protocol.md');
  const headings = [...protocol.matchAll(/^#{2,3} (.+)$/gm)].map(([, heading]) => heading ?? '');

  it('prints the golden example of every entry', () => {
    expect(
      violations(Object.entries(registry), ({ example }, name) => {
        const [, printed] =
          new RegExp(`\`\`\`json\\n([^\`]+)\`\`\`\\n\\n<sub>\\[examples/${name}\\.json\\]`).exec(protocol) ?? [];
        expect(JSON.parse(printed ?? 'null')).toEqual(example);
      }),
    ).toEqual([]);
  });

  it('lists every route', () => {
    const listed = rowsOf(protocol, 'REST').map(([route]) => route);
    expect(listed).toEqual(Object.values<Route>(routes).map(({ method, path }) => ticked(`${method} ${path}`)));
  });

  it('has unique heading anchors', () => {
    const anchors = headings.map(anchor);
    expect(anchors.filter((one, index) => anchors.indexOf(one) !== index)).toEqual([]);
  });

  it('has only links that lead somewhere', () => {
    const anchors = new Set(headings.map((heading) => `#${anchor(heading)}`));
    const links = [...protocol.matchAll(/\]\(([^)]+)\)/g)].map(([, target]) => target ?? '');
    const broken = links.filter((target) =>
      target.startsWith('#') ? !anchors.has(target) : !existsSync(join(docs, target)),
    );
    expect(broken).toEqual([]);
    expect(links.length).toBeGreaterThan(80);
  });
});
