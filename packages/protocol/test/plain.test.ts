/** The entry for browsers has the data of the routes without their schemas. */
import { describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { routes } from '../src/index.ts';
import { endpoints } from '../src/plain.ts';

const dist = join(import.meta.dirname, '../dist');

/** A built module and all modules that it imports; packages by their names. */
function graph(file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found;
  found.add(file);
  if (existsSync(file))
    for (const [, specifier = ''] of readFileSync(file, 'utf8').matchAll(/^(?:import|export)\b[^;]*? from '([^']+)'/gm))
      graph(join(specifier.startsWith('.') ? dirname(file) : '/', specifier), found);
  return found;
}

describe('the entry for browsers', () => {
  it('imports no package and no schema after the build', () => {
    const modules = [...graph(join(dist, 'plain.js'))].map((file) => relative(dist, file));
    expect(modules).toContain('endpoints.js');
    expect(modules.filter((file) => file.startsWith('..') || /^(?:schema|routes)\b/.test(file))).toEqual([]);
  });

  it('has the same endpoints before and after the build', async () => {
    const built = (await import(join(dist, 'plain.js'))) as { endpoints: unknown };
    expect(built.endpoints).toEqual(endpoints);
    expect(endpoints.sendMessage).toEqual({
      method: 'POST',
      path: '/api/sessions/:id/messages',
      credential: 'user',
      idempotent: true,
    });
    expect(Object.keys(endpoints)).toEqual(Object.keys(routes));
  });
});
