/**
 * Subjects of commits: `scope: verb object`, at most 72 characters. Checks all commits after scripts/habits.json was
 * added.
 */
import { execFileSync } from 'node:child_process';
import { dirname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const usage = `Usage: node scripts/check-subjects.mjs [--root <folder>] [--since <commit>]

Checks the subject of each commit that descends from the commit that added scripts/habits.json: \`scope: verb object\`, the verb
first and in the imperative, at most 72 characters, no full stop. Skips merges and reverts.

  --since <commit>  checks the commits after this one
  --root <folder>   checks another repository
`;

/** Verbs that begin a subject. If yours is missing, add it. */
const verbs = new Set(
  `abort accept acknowledge adapt add adjust adopt advance alert align allocate allow announce answer append apply approve archive
  ask assemble assert assign attach attribute audit authenticate authorize avoid await back backport balance bar batch begin bind
  block bound branch break bring buffer build bump bundle cache calculate call cancel cap capture carry catch centre change charge
  check choose claim clamp clarify classify clean clear clone close coalesce collapse collect combine commit compare compile
  complete compress compute configure confirm connect consolidate consume contain convert copy correct count cover crash create
  cross cut date debounce decide declare decline decode decouple decrease decrypt dedupe deduplicate default defer define degrade
  delay delegate delete deliver demand deny depend deploy deprecate derive describe deserialize detach detect determine deflake
  disable discard disconnect discover dismiss dispatch display distinguish distribute do document download downgrade drain draw
  drop dump duplicate edit elide eliminate embed emit emphasize empty enable encode encrypt end enforce enlarge enqueue ensure
  enter erase escape establish estimate evaluate evict examine exclude execute exempt exit expand expect expire explain expose
  export extend extract fail fall fetch fill filter finalize find finish fit fix flag flatten flush focus fold follow forbid force
  forget fork format forward free freeze gate gather generate get give go grant group grow guard guess halve hand handle harden
  hash hide highlight hoist hold honor honour identify ignore implement import improve include increase increment indent index
  inform inherit initialize inject inline insert inspect install instrument integrate interrupt introduce invalidate invert invite
  invoke isolate join jump keep kill label land launch lay lead learn leave let lift limit link lint list listen load localize
  locate lock log look loosen lose lower mail make manage map mark mask match measure memoize mention merge migrate minimize
  mirror mock model modernize modify monitor mount move mute name narrow negotiate nest normalize note notice notify number obey
  offer omit open optimize order overhaul override own pace pack pad page pair parallelize parse pass patch pause permit persist
  pick pin ping pipe place plan point poll pool populate post postpone prefer prefetch prefix preload prepare preserve press
  prevent print prioritize probe process produce profile prohibit project promise promote prompt propagate propose protect prove
  provide proxy prune publish pull purge push put query queue quit quote race raise randomize rank rate reach react read rearrange
  rebalance rebase rebuild recalculate receive recheck recognise recognize recommend recompute reconcile reconnect record recover
  redact redirect redo reduce refactor reference refine reflect reformat refresh refuse register regenerate reject relax relay
  release reload rely remember remove rename render renew reorder reorganize reopen repair repeat rephrase replace replay reply
  report represent reproduce request require reread reschedule reserve reset resend resize resolve respect respond restart restore
  restrict restructure resume retain rethrow retire retry return reuse revalidate reveal reverse revert review revise revoke
  rewrite reword rework rewind roll rotate round route run sanitize satisfy save say scale scan schedule scope scroll seal search secure
  see seed select send separate serialize serve set settle shard share shift ship shorten show shrink shut sign silence simplify
  simulate size skip slice sort spare specify speed spell split spread stabilize stage standardize start state stay stop store
  stream strengthen strip structure subscribe suggest summarize supply support suppress survive submit suspend swap sweep switch sync
  synchronize take target teach tell terminate test throttle throw tie tighten time toggle tolerate track transfer transform
  translate transmit treat trigger trim truncate trust try tune turn type unblock undo unify uninstall unlink unlock unmask unmount
  unpack unpin unsubscribe unwrap update upgrade upload use validate vary vendor verify wait wake walk warm warn watch widen wire
  withdraw work wrap write yield`.split(/\s+/),
);

/** A word that is a noun as well as a verb can begin a sentence: "answers are", "close code 1008 is". */
const finite = /^(?:is|are|was|were|has|have|had|can|cannot|may|must|will|does|goes|gets|comes|needs)$/;
const joins = /^(?:that|which|who|when|while|until|till|if|what|where|as|and|or|before|after|whose|how|than|because)$/;
function isSentence([first = '', ...rest]) {
  if (/^(?:of|and|or)$/.test(first)) return true;
  const words = [first, ...rest].slice(0, 4);
  const at = words.findIndex((word) => finite.test(word));
  return at >= 0 && !words.slice(0, at).some((word) => joins.test(word));
}

/** Folders of the tree, and scopes that cross them. */
const crossing =
  'agents apps audit build changelog chart ci clients comments compose contributing deps docker docs e2e figures identity image ' +
  'install lint machine migrations monitoring notifications notify operations pack packages pages prisma protocol push readme ' +
  'relay release rules runbooks security sign-in tools types';

const longest = 72;

/** Problems of one subject, as sentences. `rooms` are scopes in addition to those that cross rooms. */
export function subjectProblems(subject, rooms = []) {
  if (/^(?:Merge |Revert "|Reapply ")/.test(subject)) return [];
  const problems = [];
  if (subject.length > longest) problems.push(`is ${subject.length} characters long, at most ${longest} fit`);
  if (/[.…]$/.test(subject)) problems.push('ends in a full stop');
  const [, scope, rest] = /^([^:]+): (\S.*)$/.exec(subject) ?? [];
  if (rest === undefined) return [...problems, 'has no scope: write `room: verb object`'];
  const scopes = new Set([...rooms, ...crossing.split(' ')]);
  for (const name of scope.split(/, ?/))
    if (!scopes.has(name)) problems.push(`has the scope "${name}", which is no room: name a folder`);
  const [verb, ...object] = rest.split(/[ ,;:]+/);
  if (!verbs.has(verb))
    problems.push(
      `begins with "${verb}": begin with a verb in the imperative (a missing one: scripts/check-subjects.mjs)`,
    );
  else if (object.length === 0) problems.push('has no object');
  else if (isSentence(object)) problems.push(`begins with the noun "${verb}": begin with a verb in the imperative`);
  return problems;
}

/** The names of rooms: folders of the top, and of apps and packages. */
export function roomsOf(paths) {
  const parts = paths.map((path) => path.split('/')).filter(({ length }) => length > 1);
  const inner = parts.filter(([top, , file]) => ['apps', 'packages', 'docs'].includes(top) && file !== undefined);
  return [...new Set([...parts.map(([top]) => top.replace(/^\./, '')), ...inner.map(([, name]) => name)])];
}

function check(root, since) {
  const git = (...args) => {
    try {
      return execFileSync('git', args, {
        cwd: root,
        encoding: 'utf8',
        maxBuffer: 1e8,
        stdio: ['ignore', 'pipe', 'ignore'],
      });
    } catch {
      return '';
    }
  };
  const lines = (text) => text.split('\n').filter((line) => line !== '');
  const isShallow = git('rev-parse', '--is-shallow-repository').trim() === 'true';
  const start = since ?? lines(git('log', '--diff-filter=A', '--format=%H', '--', 'scripts/habits.json')).at(-1);
  const range = start === undefined ? [] : [`--ancestry-path`, `${start}..HEAD`];
  const commits = start === undefined ? [] : lines(git('log', '--no-merges', '--format=%h %s', ...range));
  const rooms = roomsOf(lines(git('ls-files')));
  let failed = 0;
  for (const commit of commits) {
    const [hash] = commit.split(' ', 1);
    const problems = subjectProblems(commit.slice(hash.length + 1), rooms);
    if (problems.length > 0) console.log(`${commit}\n  ${problems.join('\n  ')}`);
    failed += problems.length > 0 ? 1 : 0;
  }
  console.log(`${failed} of ${commits.length} subjects${isShallow ? ' (a shallow clone has few of them)' : ''}`);
  return failed === 0 ? 0 : 1;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const args = process.argv.slice(2);
  const option = (name) => {
    const index = args.indexOf(name);
    return index < 0 ? undefined : args.splice(index, 2)[1];
  };
  const root = option('--root') ?? dirname(dirname(fileURLToPath(import.meta.url)));
  const since = option('--since');
  if (args.length > 0) process.stdout.write(usage);
  process.exitCode = args.length === 0 ? check(root, since) : args.includes('--help') ? 0 : 2;
}
