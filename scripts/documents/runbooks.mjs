/** Runbooks: each page describes the symptom and when the incident is over, and its commands exist where they run. */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { found, read, root } from './tree.mjs';

const events = [
  'PostgreSQL fails over',
  'A drill of the restore',
  'A zone is lost',
  'Redis is full',
  'The certificate ends',
  'A secret leaked',
  'All daemons reconnect at once',
  'The disk of PostgreSQL is full',
];

/** Problems of the page of one alert. */
export function pageProblems(text) {
  return [
    ...(text.includes('Begin with [the first five minutes](README.md).')
      ? []
      : ['has no link to the first five minutes']),
    ...(/^People see: \w.*\.$/m.test(text) ? [] : ['has no line "People see: …"']),
    ...(/^- It is over when /m.test(text) ? [] : ['has no line "It is over when …"']),
  ];
}

// Only the page with redis-cli explains where to get it, because neither the image nor the operator's machine has it.
const elsewhere = /^From a machine that reaches Redis[^]*?```sh\n[^]*?```/m;
export const commandLines = (text) =>
  found(text.replace(elsewhere, ''), /```sh\n([^]*?)```/g).flatMap((block) => block.trim().split('\n'));

/** Command lines that need a program besides kubectl and curl, or in a pod a program besides node and the relay. */
export const foreignCommands = (lines) =>
  lines.filter(
    (line) =>
      !/^(?:kubectl|curl) /.test(line) ||
      (line.includes('kubectl exec') && !/ -- (?:relay admin |node |cat |sh -c )/.test(line)),
  );

export const adminCommands = (text) => found(text, /(?:relay admin|relay-admin|`admin|^admin) ([a-z][a-z-]*)/gm);

export function situationProblems(text) {
  const sections = text.split(/^## /m).slice(1);
  const titles = sections.map((section) => section.split('\n')[0]);
  const withoutEnd = sections.filter((section) => !/^- It is over when |^\d\. It is over when /m.test(section));
  const open = withoutEnd
    .map((section) => section.split('\n')[0])
    .filter((title) => title !== 'A drill of the restore');
  return [
    ...(titles.join() === events.join() ? [] : [`has the events ${titles.join(', ')}, not ${events.join(', ')}`]),
    ...open.map((title) => `"${title}" has no line "It is over when …"`),
  ];
}

export function problems() {
  const names = readdirSync(join(root, 'docs/runbooks')).filter((name) => name.startsWith('Relay'));
  const pages = names.map((name) => [`docs/runbooks/${name}`, read(`docs/runbooks/${name}`)]);
  const [first, situations] = [read('docs/runbooks/README.md'), read('docs/situations.md')];
  const lines = pages.flatMap(([name, text]) => commandLines(text).map((line) => ({ name, line })));

  const admin = spawnSync(process.execPath, [join(root, 'apps/standalone/dist/admin.js'), '--help'], {
    encoding: 'utf8',
  });
  const commands = found(admin.stdout ?? '', /^ {2}([a-z-]+)\b/gm);
  const texts = [...pages.map(([, text]) => text), situations, first, read('docs/operations.md')];
  const asked = texts.flatMap(adminCommands);
  return [
    ...(/\*\*The first five minutes\*\*[^]*\n1\. [^]*\n6\. /.test(first)
      ? []
      : ['docs/runbooks/README.md lacks the six steps of the first five minutes']),
    ...pages.flatMap(([name, text]) => pageProblems(text).map((problem) => `${name} ${problem}`)),
    ...situationProblems(situations).map((problem) => `docs/situations.md ${problem}`),
    ...(commands.length > 10 ? [] : [`relay-admin --help lists only ${commands.length} commands: ${admin.stderr}`]),
    ...(asked.length > 20 ? [] : [`the runbooks name relay-admin only ${asked.length} times`]),
    ...[...new Set(asked)]
      .filter((command) => !commands.includes(command))
      .map((command) => `relay-admin has no command "${command}", which a runbook names`),
    ...(lines.length > 40 ? [] : [`the runbooks have only ${lines.length} command lines`]),
    ...lines
      .filter(({ line }) => foreignCommands([line]).length > 0)
      .map(({ name, line }) => `${name} needs another program: ${line}`),
  ];
}
