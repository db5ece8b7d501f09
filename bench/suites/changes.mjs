// The list of changes of a session, as its daemon compares the files of a repository with git.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { silentLog, workspaceOf } from '@relay/daemon';
import { Table, quantile } from '../measure.mjs';

const sizes = [10_000, 100_000];
const changed = 50;
const lists = 20;

const author = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@example.com', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@example.com' }; // prettier-ignore

const msPerTick = 10;
/** Processor time of this process and of its processes that have exited, in ms. */
const processorMs = () => {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const [user, system, ofUser, ofSystem] = stat.slice(stat.lastIndexOf(')') + 2).split(' ').slice(11, 15).map(Number); // prettier-ignore
  return (user + system + ofUser + ofSystem) * msPerTick;
};

/** A repository with so many files of about 1 kB, a hundred in a folder. */
function repository(folder, files) {
  // A collection in the background would outlive the suite.
  const git = (...args) =>
    execFileSync('git', ['-c', 'gc.auto=0', ...args], { cwd: folder, env: { PATH: process.env.PATH, ...author } });
  mkdirSync(folder, { recursive: true });
  git('init', '-q');
  const pathOf = (n) => join(folder, `src/${Math.floor(n / 10_000)}/${Math.floor(n / 100) % 100}/file-${n}.ts`);
  const text = (n) => `export const value${n} = ${n};\n`.repeat(30);
  for (let n = 0; n < files; n += 1) {
    if (n % 100 === 0) mkdirSync(dirname(pathOf(n)), { recursive: true });
    writeFileSync(pathOf(n), text(n));
  }
  git('add', '-A');
  git('commit', '-q', '-m', 'first');
  git('worktree', 'add', '-q', '--detach', `${folder}-tree`);
  const change = (of) => {
    for (let n = 0; n < changed; n += 1) {
      const path = pathOf(Math.floor((n * files) / changed)).replace(folder, of);
      writeFileSync(path, `${text(n)}// changed\n`);
    }
    writeFileSync(join(of, 'new.ts'), text(0));
  };
  change(folder);
  change(`${folder}-tree`);
}

export async function changes({ rounds, share, progress, folder }) {
  const table = new Table(`The list of ${changed + 1} changed files, ${lists} times: ms`);
  for (const files of sizes.map((size) => Math.max(200, Math.round(size * share)))) {
    progress(`writing ${files} files`);
    const base = dirname(folder());
    const top = join(base, 'repository');
    repository(top, files);
    const options = { rules: { defaultPath: base, allowed: [base] }, level: 'changes', log: silentLog };
    for (let round = 1; round <= rounds; round += 1) {
      for (const [name, projectPath] of [
        [`${files} files`, top],
        [`${files} files, linked worktree`, `${top}-tree`],
      ]) {
        progress(`round ${round} of ${rounds}: ${name}`);
        const session = { sessionId: 's', projectPath, createdAt: new Date().toISOString(), items: () => [] };
        const times = [];
        const before = processorMs();
        for (let n = 0; n < lists; n += 1) {
          // A daemon that was just started knows nothing of the repository.
          const workspace = workspaceOf({ ...options, marksFolder: join(base, `marks-${round}-${n}`) });
          const question = { type: 'get_changes', request_id: 'r', session_id: 's', scope: 'uncommitted', limit: 500 };
          const began = performance.now();
          const { count } = await workspace.answer(session, question);
          times.push(performance.now() - began);
          if (count !== changed + 1) throw new Error(`the list has ${count} files`);
        }
        table.add(name, 'first', times[0]);
        table.add(name, 'median', quantile(times, 0.5));
        table.add(name, 'p95', quantile(times, 0.95));
        table.add(name, 'processor', (processorMs() - before) / lists);
      }
    }
  }
  return [table];
}
