/** The conformance suite covers the interface specification row by row, in both directions. */
import { checks } from '@relay/conformance';
import { read } from './tree.mjs';

const repeated = (list) => list.filter((entry, index) => list.indexOf(entry) !== index);

/** Mismatches between rows and names. `tables` are the tables of the specification. */
export function specificationProblems(tables, suite) {
  const written = tables.flatMap(({ section, rows }) => rows.map((row) => `${section} ${row}`));
  const covered = suite.flatMap(({ rows }) => rows);
  const always = suite.filter(({ needs }) => needs === undefined).flatMap(({ rows }) => rows);
  const names = suite.map(({ name }) => name);
  return [
    ...written.filter((row) => !covered.includes(row)).map((row) => `no check covers the row "${row}"`),
    ...written
      .filter((row) => covered.includes(row) && !always.includes(row))
      .map((row) => `only a check with --slow or another user covers the row "${row}"`),
    ...covered.filter((row) => !written.includes(row)).map((row) => `the specification has no row "${row}"`),
    ...repeated(written).map((row) => `specification-rows.json lists "${row}" twice`),
    ...repeated(names).map((name) => `two checks have the name "${name}"`),
    ...names
      .filter((name) => !/^(specification §\d|rules, \d+\.\d+[ :])/.test(name))
      .map((name) => `the name "${name}" does not begin with its source`),
  ];
}

export const problems = () => specificationProblems(JSON.parse(read('conformance/specification-rows.json')), checks);
