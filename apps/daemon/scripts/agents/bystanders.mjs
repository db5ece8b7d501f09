// Processes that must get no signal, beside the sessions of an order: the same program in another folder, a later process with the number of a
// recorded one, and a process of another user that a record names.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lives, startOf, until } from './terminals.mjs';

/** A program with the name of the agent that writes each signal to a file until its input closes; with a second argument it belongs to that user. */
const recorder = (program) => `
use POSIX ();
use IO::Handle;
my ($file, $user) = @ARGV;
$0 = '${program}';
open(my $notes, '>>', $file) or die;
$notes->autoflush(1);
for my $name (qw(INT TERM QUIT HUP USR1 USR2)) { $SIG{$name} = sub { print $notes "$name\\n" } }
if ($user) { POSIX::setgid($user); POSIX::setuid($user) }
print $notes "ready\\n";
<STDIN>;
`;

let count = 0;
/** Starts them. `sessionOf` returns the session that the records name. */
export async function bystandersOf({ name, preset, home, desk }, sessionOf) {
  const [program] = preset.programs;
  const folder = join(home, `bystanders-${++count}`);
  mkdirSync(folder);
  const notes = { earlier: join(folder, 'earlier'), foreign: join(folder, 'foreign') };
  const script = join(folder, 'recorder.pl');
  writeFileSync(script, recorder(program));
  const window = desk.open(folder, `exec perl '${script}' '${notes.earlier}'`);
  // Only root can start a process of another user.
  const other =
    process.getuid() === 0
      ? spawn('perl', [script, notes.foreign, '65534'], { stdio: ['pipe', 'ignore', 'ignore'] })
      : undefined;
  if (!other) delete notes.foreign;
  const pids = [window.pid, ...(other ? [other.pid] : [])];
  const noted = () => Object.values(notes).map((file) => (existsSync(file) ? readFileSync(file, 'utf8').trim() : ''));
  await until(() => noted().every((text) => text === 'ready'), 'the bystanders run');
  const starts = pids.map(startOf);
  const records = [];
  return {
    /** The agent can remove records of processes that do not look like its own: writes them again. */
    renew() {
      if (name !== 'claude_code' || sessionOf() === undefined) return;
      mkdirSync(join(home, '.claude/sessions'), { recursive: true });
      for (const [index, pid] of pids.entries()) {
        const record = join(home, '.claude/sessions', `${pid}.json`);
        // The first is a later process than the recorded one.
        const procStart = String(Number(starts[index]) - (index === 0 ? 1 : 0));
        const about = { pid, sessionId: sessionOf(), procStart, kind: 'interactive', status: 'idle' };
        writeFileSync(record, JSON.stringify({ ...about, statusUpdatedAt: Date.now() }));
        records.push(record);
      }
    },
    /** Returns their signals and exits, or undefined. */
    harmed() {
      const gone = pids.filter((pid, index) => startOf(pid) !== starts[index]);
      if (noted().every((text) => text === 'ready') && gone.length === 0) return undefined;
      return `bystanders noted ${noted().join(', ')}; ${gone.length} have exited`;
    },
    stop() {
      // They exit when their input closes.
      window.close();
      other?.stdin.end();
      for (const record of records) rmSync(record, { force: true });
    },
  };
}

/** The same program with a session of its own in another folder. `lives`: it still runs. */
export async function neighbourOf({ preset, home, desk, history }) {
  const window = desk.open(join(home, 'another'));
  window.type(`${preset.resume[0]} "@@say word-neighbour"`);
  window.press('Enter');
  await until(
    () => history.idWith('word-neighbour'),
    () => `the neighbour runs; the screen:\n${window.screen()}`,
  );
  const [program] = window.programs();
  return { lives: () => lives(program) };
}
