/** The conformance suite covers the interface specification row by row, in both directions. */
import { readFileSync } from 'node:fs';
import { checks } from '@relay/conformance';
import { describe, expect, it } from '@jest/globals';

interface Table {
  section: string;
  title: string;
  rows: string[];
}

const file = new URL('../conformance/specification-rows.json', import.meta.url);
const tables = JSON.parse(readFileSync(file, 'utf8')) as Table[];
const written = tables.flatMap(({ section, rows }) => rows.map((row) => `${section} ${row}`));
const covered = checks.flatMap(({ rows }) => rows);
const missingIn = (list: readonly string[], from: readonly string[]) => from.filter((row) => !list.includes(row));

describe('the conformance suite', () => {
  it('has a check for every row of every table of the specification', () => {
    expect(missingIn(covered, written)).toEqual([]);
  });

  it('names no row that the specification does not have', () => {
    expect(missingIn(written, covered)).toEqual([]);
  });

  it('covers every row without waiting for --slow or another user', () => {
    const always = checks.filter(({ needs }) => needs === undefined).flatMap(({ rows }) => rows);
    expect(missingIn(always, written)).toEqual([]);
  });

  it('lists every row once', () => {
    expect(new Set(written).size).toBe(written.length);
  });

  it('gives every check a name of its own that begins with its source', () => {
    const names = checks.map(({ name }) => name);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    expect(names.filter((name) => !/^(specification §\d|rules, \d+\.\d+[ :])/.test(name))).toEqual([]);
  });
});
