import { readFileSync, readdirSync } from 'node:fs';
import { expect, it } from '@jest/globals';

const folder = new URL('../apps/web/src/styles/', import.meta.url);
const rules = readdirSync(folder).flatMap((file) =>
  [...readFileSync(new URL(file, folder), 'utf8').matchAll(/([^{}]*)\{([^{}]*)\}/g)].map(([, selector, body]) => ({
    name: `${file}: ${selector!.trim()}`,
    body: body!,
  })),
);

it('W5: the columns of every grid can be narrower than a long word in them', () => {
  const faults = rules.filter(({ body }) => {
    const columns = /grid-template-columns:([^;]*);/.exec(body)?.[1];
    if (columns === undefined) return /display:\s*(?:inline-)?grid/.test(body);
    return /1fr/.test(columns.replaceAll(/minmax\((?:0|min\([^)]*\)), 1fr\)/g, ''));
  });
  expect(rules.length).toBeGreaterThan(400);
  expect(faults.map(({ name }) => name)).toEqual([]);
});

it('W25: the dark colours are the same for the setting of the system and of the person', () => {
  const coloursOf = (selector: string) =>
    rules.find(({ name }) => name.endsWith(selector))?.body.match(/--[\w-]+: [^;]+/g) ?? [];
  const chosen = coloursOf(":root[data-theme='dark']");
  expect(chosen).toContain('--canvas: #131210');
  expect(coloursOf(":root:not([data-theme='light'])")).toEqual(chosen);
});
