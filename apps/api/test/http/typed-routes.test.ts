/** Promise: a handler whose answers or reads differ from the table of routes does not compile. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const here = dirname(fileURLToPath(import.meta.url));
/** Exists only for the compiler. */
const file = join(here, 'handlers-of-the-test.ts');
const fixtures = {
  'answers as the table says': `export const it0: Handlers<'readTask'>['readTask'] = () => ({ status: 200, body: task });`,
  'answers with another status': `export const it1: Handlers<'readTask'>['readTask'] = () => ({ status: 418, body: task });`,
  'answers with another body': `export const it2: Handlers<'readTask'>['readTask'] = () => ({ status: 200, body: { nonsense: 1 } });`,
  'answers without the body': `export const it3: Handlers<'readTask'>['readTask'] = () => ({ status: 200 });`,
  'answers with a body where there is none': `export const it4: Handlers<'deleteSession'>['deleteSession'] = () => ({ status: 204, body: task });`,
  'answers with the refusal of another route': `export const it5: Handlers<'readTask'>['readTask'] = () => ({ status: 400, body: task });`,
  'reads a field that the body does not have': `export const it6: Handlers<'updateDevice'>['updateDevice'] = (call) => { call.body.never; throw call; };`,
  'reads a parameter that the path does not have': `export const it7: Handlers<'readTask'>['readTask'] = (call) => { call.params.userCode; throw call; };`,
  'reads a query of a route without one': `export const it8: Handlers<'readTask'>['readTask'] = (call) => { call.query.limit; throw call; };`,
  'takes a user for granted where none need be': `export const it9: Handlers<'requestCode'>['requestCode'] = (call) => { call.principal.userId; throw call; };`,
};

describe('a handler that', () => {
  const wrong = new Set<string>();

  beforeAll(() => {
    const head = `import type { Task } from '@relay/protocol';\nimport type { Handlers } from '../../src/http/pipeline.ts';\ndeclare const task: Task;\n`;
    const text = head + Object.values(fixtures).join('\n');
    const config = ts.getParsedCommandLineOfConfigFile(
      join(here, '../../tsconfig.json'),
      { noEmit: true },
      {
        ...ts.sys,
        onUnRecoverableConfigFileDiagnostic: ({ messageText }) => {
          throw new Error(ts.flattenDiagnosticMessageText(messageText, '\n'));
        },
      },
    )!;
    const host = ts.createCompilerHost(config.options);
    const read = host.getSourceFile.bind(host);
    host.getSourceFile = (name, ...rest) =>
      name === file ? ts.createSourceFile(name, text, ts.ScriptTarget.Latest) : read(name, ...rest);
    const program = ts.createProgram([file], config.options, host);
    const source = program.getSourceFile(file)!;
    const firstLine = head.split('\n').length - 1;
    for (const { start } of program.getSemanticDiagnostics(source)) {
      const line = source.getLineAndCharacterOfPosition(start!).line - firstLine;
      wrong.add(Object.keys(fixtures)[line] ?? `line ${line}`);
    }
  });

  it.each(Object.keys(fixtures))('%s', (title) => {
    expect([title, wrong.has(title)]).toEqual([title, title !== 'answers as the table says']);
  });

  it('is in the fixtures has no other error', () => {
    expect([...wrong].filter((title) => !(title in fixtures))).toEqual([]);
  });
});
