/**
 * Checks the observations of peers and the final database against the promises (rules, 2.1). Pure: takes journal and
 * rows, returns violations as sentences. An empty list means that every promise was kept.
 */
import { errorCatalogue } from '@relay/protocol';
import type { Entry, Journal } from './journal.ts';
import type { DeviceRow, TaskRow } from './truth.ts';

/**
 * The tolerance for a history request that reaches a daemon after its caller got a response: this process needs time to
 * notice both.
 */
const noticeMs = 2000;

/** `mayCut`: instances with open requests were killed, so connections broke. */
export interface Circumstances {
  mayCut: boolean;
}

/** All violations that the journal alone reveals. */
export function judgeJournal(journal: Journal, circumstances: Circumstances): string[] {
  return [
    ...judgeWrites(journal),
    ...judgeAnswers(journal, circumstances),
    ...judgeQuestions(journal),
    ...judgeFrames(journal),
    ...judgeStrangers(journal),
    ...judgeRefusals(journal),
  ];
}

/** A task reaches a daemon at most once, and only its own daemon. */
function judgeWrites(journal: Journal): string[] {
  const wrong: string[] = [];
  const accepted = new Map(journal.of('accepted').map((entry) => [entry.task, entry]));
  const seen = new Set<string>();
  for (const { task, device, user } of journal.of('written')) {
    if (seen.has(task)) wrong.push(`task ${task} of ${user} was written twice`);
    seen.add(task);
    const order = accepted.get(task);
    if (order && order.device !== device) wrong.push(`task ${task} was written to another device`);
  }
  for (const { key, task } of accepted.values())
    if ([...accepted.values()].some((other) => other.key === key && other.task !== task))
      wrong.push(`one request made two tasks: ${key}`);
  return wrong;
}

/** Every request gets a defined response within its timeout. */
function judgeAnswers(journal: Journal, { mayCut }: Circumstances): string[] {
  const wrong: string[] = [];
  const answered = new Map(journal.of('answered').map((entry) => [entry.request, entry]));
  const cut = new Map(journal.of('cut').map((entry) => [entry.request, entry]));
  const catalogue: Record<string, { status: number } | undefined> = errorCatalogue;
  for (const { request, call, user } of journal.of('asked')) {
    const answer = answered.get(request);
    const broken = cut.get(request);
    if (!answer) {
      if (!broken) wrong.push(`nothing came of: ${call}`);
      // Clients of a dead instance get a refused connection; only a lost connection needs an excuse.
      else if (broken.why.startsWith('TimeoutError') || (!mayCut && !broken.why.includes('ECONNREFUSED')))
        wrong.push(`${call} had no answer: ${broken.why}`);
      continue;
    }
    const { status, code } = answer;
    if (status < 300) continue;
    if (code === '' && mayCut && [502, 503, 504].includes(status)) continue;
    if (catalogue[code]?.status !== status) wrong.push(`${call} was answered ${status} "${code}"`);
    if (status === 401 || status === 403 || status === 500)
      wrong.push(`${call} of ${user} was answered ${status} ${code}`);
  }
  return wrong;
}

/** No history request reaches a daemon after its caller got a response. */
function judgeQuestions(journal: Journal): string[] {
  const answeredAt = new Map(journal.of('answered').map(({ request, atMs }) => [request, atMs]));
  return journal
    .of('questioned')
    .filter(({ request, atMs }) => atMs > (answeredAt.get(request) ?? Infinity) + noticeMs)
    .map(({ request, user }) => `a daemon of ${user} was asked for request ${request} after it was answered`);
}

/**
 * Frames of a daemon over one connection reach an app in order, without a gap and once, or the app gets a resync before
 * the frames after the gap. Only the last lines of a lost connection can be missing.
 */
function judgeFrames(journal: Journal): string[] {
  const wrong: string[] = [];
  const beganAt = new Map<number, number>();
  /**
   * For each app, the place in the journal where it last started afresh, and the last line of each connection with its
   * place.
   */
  const apps = new Map<number, { freshAt: number; lines: Map<number, { number: number; at: number }> }>();
  for (const [at, entry] of journal.entries.entries()) {
    if (entry.what === 'connected') beganAt.set(entry.connection, at);
    if (entry.what === 'listening' || entry.what === 'resync') {
      const app = apps.get(entry.app) ?? { freshAt: at, lines: new Map() };
      if (entry.what === 'resync' || entry.since === '') app.freshAt = at;
      apps.set(entry.app, app);
    }
    if (entry.what !== 'heard' || !entry.line) continue;
    const { line } = entry;
    const app = apps.get(entry.app)!;
    const last = app.lines.get(line.connection);
    const told = `app ${entry.app} of ${entry.user} heard line ${line.number} of connection ${line.connection}`;
    if (last && line.number <= last.number) wrong.push(`${told} after line ${last.number}`);
    const from = last?.at ?? beganAt.get(line.connection)!;
    if (line.number > (last?.number ?? 0) + 1 && app.freshAt < from)
      wrong.push(`${told} after line ${last?.number ?? 0}, and was not told to reload`);
    app.lines.set(line.connection, { number: line.number, at });
  }
  return wrong;
}

function judgeStrangers(journal: Journal): string[] {
  const foreign = [...journal.of('heard'), ...journal.of('answered')].filter(({ strangers }) => strangers.length > 0);
  return foreign.map(
    (entry) => `something of ${entry.strangers.join()} reached another user: ${JSON.stringify(entry)}`,
  );
}

/** A failing dependency must not blame a credential: daemons give up after five responses with 401. */
function judgeRefusals(journal: Journal): string[] {
  return journal
    .of('refused')
    .filter(({ status, code }) => ![502, 503, 504].includes(status) || (status !== 503 && code !== ''))
    .map(({ who, user, status, code }) => `a ${who} of ${user} was refused with ${status} ${code}`);
}

export interface Rows {
  tasks: readonly TaskRow[];
  devices: readonly DeviceRow[];
  fences: ReadonlyMap<string, number>;
}

/** Checks the final state after all faults, once every client had time: the rows of the load against its journal. */
export function judgeTruth(journal: Journal, truth: Rows, runs: ReadonlySet<string>): string[] {
  return [
    ...judgeRecords(journal, truth),
    ...judgeOutcomes(journal, truth.tasks, runs),
    ...judgeOrder(journal, truth.tasks),
  ];
}

/** Every device has exactly one connection, and the database has exactly the accepted tasks. */
export function judgeRecords(journal: Journal, truth: Rows): string[] {
  const wrong: string[] = [];
  for (const { id, status, fence, open } of truth.devices) {
    if (status !== 'online') wrong.push(`device ${id} is connected and said to be ${status}`);
    if (truth.fences.get(id) !== fence)
      wrong.push(`device ${id} is leased under ${truth.fences.get(id) ?? 'nothing'} and noted under ${fence}`);
    if (open !== 1) wrong.push(`device ${id} has ${open} connections without a recorded end`);
  }
  const accepted = new Map(journal.of('accepted').map((entry) => [entry.task, entry]));
  const rows = new Map(truth.tasks.map((row) => [row.id, row]));
  for (const { task, user, device } of accepted.values()) {
    const row = rows.get(task);
    if (!row) wrong.push(`task ${task} of ${user} was accepted and is not there`);
    else if (row.device_id !== device || !row.owner_id.endsWith(`|${user}`))
      wrong.push(`task ${task} is not of ${user}`);
  }
  for (const { id } of truth.tasks)
    if (!accepted.has(id)) wrong.push(`task ${id} exists and was reported to no client`);
  return wrong;
}

/** The outcome of a task is the one that its daemon sent, never a guess. */
function judgeOutcomes(journal: Journal, tasks: readonly TaskRow[], runs: ReadonlySet<string>): string[] {
  const wrong: string[] = [];
  const lost = new Set(journal.of('disconnected').map(({ connection }) => connection));
  const connections = (entries: readonly { task: string; connection: number }[]) =>
    new Map(entries.map(({ task, connection }) => [task, connection]));
  const written = connections(journal.of('written'));
  const completed = connections(journal.of('completed'));
  for (const { id, state, error_code: code } of tasks) {
    const [writtenTo, completedBy] = [written.get(id), completed.get(id)];
    const isExcused = writtenTo === undefined || lost.has(writtenTo);
    const told = `task ${id} is ${state} ${code ?? ''}`;
    if ((state === 'queued' || state === 'expired') && writtenTo !== undefined) wrong.push(`${told} and was written`);
    if ((state === 'sent' || state === 'running') && !runs.has(id)) wrong.push(`${told} and runs nowhere`);
    if (state === 'unknown' && !isExcused) wrong.push(`${told}, and its connection lives`);
    if (state === 'failed' && (code !== 'TASK_LOST' || !isExcused)) wrong.push(`${told}, and its daemon never said so`);
    if (state === 'completed' && completedBy === undefined) wrong.push(`${told}, and its daemon never said so`);
    const heardOut = completedBy !== undefined && !lost.has(completedBy) && completedBy === writtenTo;
    if (heardOut && state !== 'completed' && state !== 'cancelled') wrong.push(`${told}, and its daemon completed it`);
  }
  return wrong;
}

/** Tasks are written in order per session. */
function judgeOrder(journal: Journal, tasks: readonly TaskRow[]): string[] {
  const place = new Map(journal.of('written').map(({ task }, index) => [task, index]));
  const newest = new Map<string, number>();
  const wrong: string[] = [];
  for (const { id, session_key: session } of [...tasks].sort((a, b) => a.seq - b.seq)) {
    const at = place.get(id);
    if (at === undefined) continue;
    if (at < (newest.get(session) ?? -1)) wrong.push(`task ${id} overtook an earlier one of its session`);
    newest.set(session, Math.max(at, newest.get(session) ?? -1));
  }
  return wrong;
}

/** The last entries of the journal, to find the cause of a failure. */
export function lastOf(journal: Journal, count: number): string {
  const line = ({ atMs, ...entry }: Entry) => `${(atMs / 1000).toFixed(3)} ${JSON.stringify(entry)}`;
  return journal.entries.slice(-count).map(line).join('\n');
}
