/** Measures the gzipped size that a browser loads from the build, and prints it. */
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { expect, it } from '@jest/globals';

const dist = fileURLToPath(new URL('../apps/web/dist/', import.meta.url));
const kibibytes = (file: string) => gzipSync(readFileSync(`${dist}${file}`)).length / 1024;
const rounded = (value: number) => Math.round(value * 10) / 10;
const sum = (some: readonly string[]) => rounded(some.reduce((total, file) => total + kibibytes(file), 0));

it('is within the budget: first load, conversation, each language', () => {
  const page = readFileSync(`${dist}index.html`, 'utf8');
  const files = readdirSync(`${dist}assets`).map((name) => `assets/${name}`);
  /** The language chunks, such as `en-frame`. A browser loads one language. */
  const words = files.filter((file) => /\/[a-z]{2}-[a-z]+-[\w-]+\.js$/.test(file));
  const wordsOf = (part: string) =>
    words.filter((file) => file.includes(`-${part}-`)).toSorted((one, other) => kibibytes(other) - kibibytes(one))[0]!;
  // The page does not name its language chunk: its first code loads that.
  const first = ['index.html', ...files.filter((file) => page.includes(file)), wordsOf('frame'), wordsOf('errors')];
  const conversation = files.filter((file) => /\/conversation-[\w-]+\.js$/.test(file));
  const highlighter = files.filter((file) => /\/highlight-[\w-]+\.js$/.test(file));
  const mend = files.filter((file) => /\/mend-[\w-]+\.js$/.test(file));
  const pages = files.filter((file) =>
    /\/(?:machines|settings|notify|door|changes|palette|help|background|last|last-page)-[\w-]+\.js$/.test(file),
  );
  const known = [...first, ...words, ...conversation, ...highlighter, ...mend, ...pages];
  const others = files.filter((file) => file.endsWith('.js') && !known.includes(file));
  const largest = (some: readonly string[]) => rounded(Math.max(...some.map(kibibytes)));
  const sizes = {
    first: sum(first),
    conversation: sum([...conversation, wordsOf('session')]),
    highlighter: sum(highlighter),
    mend: sum(mend),
    largestPages: largest(pages),
    largestOther: largest(others),
    largestWords: largest(words),
  };
  process.stdout.write(`pages, gzipped KiB: ${JSON.stringify(sizes)}\n`);
  // The page and the lines of diffs, which the page of changes uses as well.
  expect(conversation).toHaveLength(2);
  expect(sizes.first).toBeLessThanOrEqual(126);
  expect(sizes.conversation).toBeLessThanOrEqual(60);
  expect(sizes.highlighter).toBeLessThanOrEqual(12);
  expect(sizes.mend).toBeLessThanOrEqual(6.5);
  expect(sizes.largestPages).toBeLessThanOrEqual(10);
  expect(sizes.largestOther).toBeLessThanOrEqual(4.5);
  expect(sizes.largestWords).toBeLessThanOrEqual(4.5);
});

it('44, changes 18: the page of changes adds at most 14 kB, and nothing of it is in the first load', () => {
  const page = readFileSync(`${dist}index.html`, 'utf8');
  const chunks = readdirSync(`${dist}assets`).filter((name) => /^changes-[\w-]+\.js$/.test(name));
  expect(chunks).toHaveLength(1);
  expect(sum(chunks.map((name) => `assets/${name}`))).toBeLessThanOrEqual(14_000 / 1024);
  expect(page).not.toMatch(/changes-|as-of-/);
});
