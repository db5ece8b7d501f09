// A program in a terminal that records its session like Claude Code: for tests of session holders. Arguments: the
// folder of Claude Code, the session, its status, and the signals that it ignores.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [folder, sessionId, status = 'idle', ignored = ''] = process.argv.slice(2);
process.title = 'claude';
const stat = readFileSync('/proc/self/stat', 'latin1');
const record = join(folder, 'sessions', `${process.pid}.json`);
mkdirSync(join(folder, 'sessions'), { recursive: true });
const fields = { pid: process.pid, sessionId, cwd: process.cwd(), kind: 'interactive', status };
const procStart = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
const waits = status === 'waiting' ? { waitingFor: 'permission prompt' } : {};
// Before the record: a test signals it as soon as there is one.
for (const name of ['SIGINT', 'SIGTERM'])
  process.on(name, () => {
    if (ignored.includes(name)) return;
    rmSync(record);
    console.log(`claude --resume ${sessionId}`);
    process.exit(0);
  });
writeFileSync(record, JSON.stringify({ ...fields, ...waits, procStart, statusUpdatedAt: Date.now() }));
setInterval(() => undefined, 1000);
