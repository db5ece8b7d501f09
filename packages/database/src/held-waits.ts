/** Notifications about programs that wait for their person, in SQL (rules, 24.8). */
import { sql } from './sql.ts';

/** Begins the task id of a notification about a program that waits for its person; the time of its state follows. */
export const prefixOfWait = 'held:';

/** Whether notification `n` concerns a program that waits for its person, in SQL. */
export const isAboutProgram = sql`COALESCE(n.task_id LIKE ${`${prefixOfWait}%`}, false)`;

/** Whether the program of session `ses` has left the state of notification `n`, in SQL. */
export const isWaitOver = sql`(ses.held->>'state' IS DISTINCT FROM 'waiting' OR ${prefixOfWait} || (ses.held->>'at') <> n.task_id)`;
