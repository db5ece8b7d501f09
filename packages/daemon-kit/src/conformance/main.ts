/** `node dist/conformance/main.js -- <program> [arguments]`: checks any daemon, prints a line per rule, exits with 1 when one is broken. */
import { programSubject } from './program.ts';
import { runDaemonChecks } from './run.ts';

const words = process.argv.slice(2).filter((word, index) => index > 0 || word !== '--');
const [program, ...args] = words;
if (program === undefined) {
  process.stderr.write('Name the daemon: node dist/conformance/main.js -- python3 my-daemon.py\n');
  process.exit(64);
}
let output = '';
const results = await runDaemonChecks(
  programSubject(program, args, (text) => (output = `${output}${text}`.slice(-4000))),
  ({ check, problem }) => {
    process.stdout.write(`${problem === undefined ? 'ok    ' : 'BROKEN'} ${check.name} (${check.rule})\n`);
    if (problem !== undefined) process.stdout.write(`       ${problem}\n${output.replace(/^/gm, '       | ')}\n`);
    output = '';
  },
);
const broken = results.filter(({ problem }) => problem !== undefined).length;
process.stdout.write(`${results.length - broken} of ${results.length} rules pass.\n`);
process.exit(broken === 0 ? 0 : 1);
