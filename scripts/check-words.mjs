// Plain English: finds the words and the sentences that docs/glossary.md replaces. Reads the files that git knows; changes none.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const usage = `Usage: node scripts/check-words.mjs [path …]

Looks for words that a native reader stops at (docs/glossary.md says what to write instead) in code, comments, documents and
texts on screen: all files that git knows, or those below the given paths. Prints file:line, the words, and the advice.
`;

/** The words, and the advice. Upper and lower case are the same. */
const words = [
  [
    /\b(?:nobody|somebody|whoever)\b/gi,
    'name the noun: no caller, another instance, the caller that …, no one (of people)',
  ],
  [/\bat the desk\b/gi, 'locally, or: started on the machine'],
  [/\b(?:made|make|makes|making) up for\b/gi, 'retried, or: recovered'],
  [/\bany more\b(?! [a-z]+s\b| of\b| than\b)/gi, 'no longer'],
  [/\banew\b/gi, 'again'],
  [/\bon (?:its|the|their|his) way (?:out|in)\b/gi, 'shutting down, connecting; or: being sent'],
  [/\bstands? (?:in|at|here|there|before|on|as|open|under|still|written|above|below|for itself)\b/gi, 'is, is written'],
  [/\b(?:gives?|given|giving) (?:[a-z]+ ){0,3}free\b/gi, 'releases'],
  [/\bnevertheless\b/gi, 'even so, yet'],
  [/\bonce more\b/gi, 'again'],
  [/\bwhat was said (?:before|last)\b/gi, 'earlier messages, the previous frame'],
  [/\bThat was too often\b/gi, 'Too many requests'],
  [/\bmade a mistake\b/gi, 'Something went wrong on …'],
];

/** A sentence that begins with a pronoun instead of its noun. A question may. */
const headless = /(?:^|[.!:;] )((?:What|Who|Those|Nobody|Whoever|Which|How much|How many) [^.?!]*)(?=[.?!]|$)/g;
const headlessAdvice = 'begin with the noun: "The daemon that …", "Returns …"';

/** Places where a word is right: it is quoted, it is data, or the text is given. Path, then what the line contains. */
const allowed = [
  ['docs/glossary.md', ''],
  ['scripts/check-words.mjs', ''],
  ['tests/plain-english.house.test.ts', ''],
  ['docs/interface-specification.md', ''],
  ['CODE_OF_CONDUCT.md', ''],
  ['CONTRIBUTING.md', '| '],
  ['prisma/migrations/', ''],
  // Texts that people read.
  ['apps/web/src/languages/', 'at the desk'],
  ['packages/daemon-kit/src/desk-gate.ts', 'at the desk'],
  ['packages/daemon-kit/src/own-texts.ts', 'at the desk'],
  ['packages/daemon-kit/src/transcript/mapper.ts', 'Stopped at the desk'],
  ['packages/daemon-kit/test/desk.test.ts', 'at the desk'],
  ['tests/browser/desk.test.ts', 'at the desk'],
  ['apps/cli/src/attach/footer.ts', 'at the desk'],
  ['apps/api/src/push/words.ts', 'at the desk'],
  ['apps/api/test/push/waiting-program.test.ts', 'at the desk'],
  ['apps/cli/test/attach.machine.test.ts', 'at the desk'],
  // The replaced phrases of the pages and of comments, as data.
  ['scripts/documents/phrases.mjs', ''],
  ['tests/check-habits.house.test.ts', ''],
  ['tests/check-subjects.house.test.ts', ''],
  ['tests/check-documents.house.test.ts', ''],
];
const isAllowed = (path, line) => allowed.some(([place, text]) => path.startsWith(place) && line.includes(text));

/** A name in a test, such as 'nobody' or /home/somebody/: quoted or in a path on both sides. */
const isData = (line, at, length) => /['"`/]/.test(line.charAt(at - 1)) && /['"`/:@-]/.test(line.charAt(at + length));

const kinds = /\.(?:[cm]?[jt]sx?|md|ya?ml|sh|css|html|py|prisma|env|example)$/;
const generated = /^(?:examples\/.*\.json|docs\/(?:openapi|asyncapi)\.json|package-lock\.json)$/;

/** The comment of a line of code, or the line itself in a document; undefined where the line is no prose. */
function prose(path, line) {
  if (path.endsWith('.md') && line.startsWith('#')) return undefined;
  if (path.endsWith('.md')) return line.replace(/^[\s>*|#\d.-]+/, '');
  return /^\s*(?:\/\/+|\/?\*+|#)\s+(.*?)(?:\s*\*\/)?$/.exec(line)?.[1] ?? /\/\*\* (.*?) \*\//.exec(line)?.[1];
}

/** Problems of one text, as `{ line, words, advice }`, in the order of the lines. */
export function wordProblems(path, text) {
  const problems = [];
  let before = '';
  for (const [index, line] of text.split('\n').entries()) {
    const sentence = prose(path, line);
    const begins = before === '' || /[.!?:;]$/.test(before);
    before = sentence ?? '';
    if (isAllowed(path, line)) continue;
    for (const [pattern, advice] of words)
      for (const { 0: found, index: at } of line.matchAll(pattern))
        if (!isData(line, at, found.length)) problems.push({ line: index + 1, words: found, advice });
    for (const { 1: found, index: at } of (sentence ?? '').matchAll(headless)) {
      const asked =
        sentence
          .slice(at + found.length)
          .replace(/^[^.?!]*/, '')
          .startsWith('?') || /\?/.test(found);
      const ends = sentence[at + sentence.slice(at).indexOf(found) + found.length];
      if ((at > 0 || begins) && !asked && ends !== '?')
        problems.push({ line: index + 1, words: found.slice(0, 40), advice: headlessAdvice });
    }
  }
  return problems;
}

function check(paths) {
  const listed = execFileSync('git', ['ls-files', '--', ...paths], { encoding: 'utf8', maxBuffer: 1e8 })
    .trim()
    .split('\n');
  const files = listed.filter((path) => kinds.test(path) && !generated.test(path));
  let count = 0;
  for (const path of files)
    for (const { line, words: found, advice } of wordProblems(path, readFileSync(path, 'utf8'))) {
      console.log(`${path}:${line}  ${found}  → ${advice}`);
      count += 1;
    }
  console.log(`${count} in ${files.length} files`);
  return count === 0 ? 0 : 1;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  if (process.argv.includes('--help')) process.stdout.write(usage);
  else process.exitCode = check(process.argv.slice(2));
}
