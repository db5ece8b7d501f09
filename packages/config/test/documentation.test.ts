import { describe, expect, it } from '@jest/globals';
import { configurationMarkdown, defaults, describeVariables, timings } from '../src/index.ts';

describe('the documentation of the configuration', () => {
  it('has a row for every field of the configuration', () => {
    const fields = Object.keys(defaults('standalone')).filter((field) => field !== 'role' && !(field in timings));
    const names = fields.map((field) => field.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase());
    expect(describeVariables().map(({ name }) => name)).toEqual(names);
    for (const name of names) expect(configurationMarkdown()).toContain(`| \`${name}\``);
  });

  it('gives the meaning, rule and readers of every variable', () => {
    for (const row of describeVariables()) {
      expect({ ...row, ok: row.meaning !== '' && row.accepts !== '' && row.default !== '' }).toMatchObject({
        ok: true,
      });
      expect(row.readBy.length).toBeGreaterThan(0);
    }
  });

  it('prints the default that a role really gets', () => {
    for (const { name, kind, default: text } of describeVariables()) {
      if (kind !== 'int' || text.includes('(')) continue;
      const field = name.toLowerCase().replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
      expect(text).toBe(`\`${String((defaults('api') as unknown as Record<string, unknown>)[field])}\``);
    }
    expect(configurationMarkdown()).toContain('`127.0.0.1` (standalone), `0.0.0.0` (api, gateway)');
  });

  it('contains nothing of this machine', () => {
    // As the beginning of a path: in a folder such as /relay, parts of addresses read the same.
    expect(configurationMarkdown()).not.toContain(`${process.cwd()}/`);
    expect(configurationMarkdown()).toContain('`./data`');
  });

  it('escapes characters that would break a table', () => {
    const cells = configurationMarkdown()
      .split('\n')
      .filter((line) => line.startsWith('| '))
      .map((line) => line.split(/(?<!\\)\|/).length);
    expect(new Set(cells)).toEqual(new Set([7]));
  });
});
