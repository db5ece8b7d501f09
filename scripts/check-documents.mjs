/** Checks the texts of the tree: documents, runbooks, the catalogue of the pages, and the rows of the specification. Needs a build. */
import * as catalogue from './documents/catalogue.mjs';
import * as phrases from './documents/phrases.mjs';
import * as pointers from './documents/pointers.mjs';
import * as runbooks from './documents/runbooks.mjs';
import * as specification from './documents/specification.mjs';

const usage = `Usage: node scripts/check-documents.mjs

Prints all problems of these texts:
  pointers       links, commands, paths, rules and ADRs that documents and code name exist; the walks of CONTRIBUTING.md
  runbooks       each page has its parts, and its commands exist where they run
  catalogue      every text of the pages is in the catalogue, in both languages
  phrases        the built pages have no phrase that was replaced
  specification  the conformance suite covers each row of the specification
`;

async function check() {
  let count = 0;
  for (const [name, { problems }] of Object.entries({ pointers, runbooks, catalogue, phrases, specification }))
    for (const problem of await problems()) {
      console.log(`${name}: ${problem}`);
      count += 1;
    }
  console.log(`${count} problems`);
  return count === 0 ? 0 : 1;
}

const args = process.argv.slice(2);
if (args.length > 0) process.stdout.write(usage);
process.exitCode = args.length === 0 ? await check() : args.includes('--help') ? 0 : 2;
