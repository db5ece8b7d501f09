/** The programs for people write to a terminal in one place only: these tests prove that the lint rule can fail. */
import { describe, expect, it } from '@jest/globals';
import { ESLint, Linter } from 'eslint';
import { resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const door = 'packages/machine/src/terminal.ts';
const rules = ['no-console', 'no-restricted-imports', 'no-restricted-syntax'];

const eslint = new ESLint({ cwd: root });
type Chosen = Record<string, Linter.RuleEntry>;
/** Keyed by file, because reading the configuration takes longer than a check. */
const configs = new Map<string, Promise<{ rules: Chosen }>>();
const configOf = (file: string): Promise<{ rules: Chosen }> => {
  const config =
    configs.get(file) ?? (eslint.calculateConfigForFile(resolve(root, file)) as Promise<{ rules: Chosen }>);
  configs.set(file, config);
  return config;
};

/** The problems that these rules of the project's eslint configuration report for this text in this file. */
async function complaints(file: string, text: string): Promise<string[]> {
  const config = await configOf(file);
  const chosen = Object.fromEntries(rules.flatMap((name) => (config.rules[name] ? [[name, config.rules[name]]] : [])));
  return new Linter()
    .verify(text, { rules: chosen, languageOptions: { sourceType: 'module' } })
    .map(({ ruleId }) => String(ruleId));
}

describe('text for a terminal', () => {
  it.each([
    'process.stdout.write("x");',
    'process.stderr.write("x");',
    'process["stdout"].write("x");',
    'const { stderr } = process; stderr.write("x");',
    'console.error("x");',
    'import { stdout } from "node:process"; stdout.write("x");',
    'import { Console } from "node:console"; new Console();',
    'spawnSync("tail", [], { stdio: ["ignore", "inherit", "inherit"] });',
    'writeFileSync("/dev/tty", "x");',
  ])('S6: is allowed in the terminal module and nowhere else: %s', async (text) => {
    for (const file of ['apps/cli/src/follow.ts', 'apps/daemon/src/commands/up.ts', 'packages/daemon-kit/src/log.ts'])
      expect(await complaints(file, text)).not.toEqual([]);
    expect(await complaints(door, text)).toEqual([]);
  });
});
