/**
 * The module that test files get for `@jest/globals`: the bindings of the test file that runs now. Jest's own module works inside its
 * virtual machine only, and test files run in the worker's own realm (ADR 72).
 */
import type * as jestGlobals from '@jest/globals';

type Globals = Pick<
  typeof jestGlobals,
  'describe' | 'it' | 'test' | 'expect' | 'beforeAll' | 'beforeEach' | 'afterEach' | 'afterAll' | 'jest'
>;

export let describe: Globals['describe'];
export let it: Globals['it'];
export let test: Globals['test'];
export let expect: Globals['expect'];
export let beforeAll: Globals['beforeAll'];
export let beforeEach: Globals['beforeEach'];
export let afterEach: Globals['afterEach'];
export let afterAll: Globals['afterAll'];
export let jest: Globals['jest'];

/** Importers see the new values at once: exports of a module are live. */
export function setGlobals(globals: Globals): void {
  ({ describe, it, test, expect, beforeAll, beforeEach, afterEach, afterAll, jest } = globals);
}
