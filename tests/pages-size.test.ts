/** The size that a browser loads: measured on the build, gzipped, and printed. */
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { expect, it } from '@jest/globals';

const dist = fileURLToPath(new URL('../apps/web/dist/', import.meta.url));
const kibibytes = (file: string) => gzipSync(readFileSync(`${dist}${file}`)).length / 1024;
const rounded = (value: number) => Math.round(value * 10) / 10;

it('is within the budget: first load, conversation, each language', () => {
  const page = readFileSync(`${dist}index.html`, 'utf8');
  const files = readdirSync(`${dist}assets`).map((name) => `assets/${name}`);
  const first = ['index.html', ...files.filter((file) => page.includes(file))];
  const conversation = files.filter((file) => /\/conversation-[\w-]+\.js$/.test(file));
  const highlighter = files.filter((file) => /\/highlight-[\w-]+\.js$/.test(file));
  const languages = files.filter(
    (file) => file.endsWith('.js') && ![...first, ...conversation, ...highlighter].includes(file),
  );
  const sum = (some: readonly string[]) => rounded(some.reduce((total, file) => total + kibibytes(file), 0));
  const sizes = {
    first: sum(first),
    conversation: sum(conversation),
    highlighter: sum(highlighter),
    largestLanguage: rounded(Math.max(...languages.map(kibibytes))),
  };
  process.stdout.write(`pages, gzipped KiB: ${JSON.stringify(sizes)}\n`);
  expect(conversation).toHaveLength(1);
  expect(sizes.first).toBeLessThanOrEqual(125);
  expect(sizes.conversation).toBeLessThanOrEqual(60);
  expect(sizes.highlighter).toBeLessThanOrEqual(12);
  expect(sizes.largestLanguage).toBeLessThanOrEqual(4.5);
});
