/** The files of a daemon, all in one folder. */
import { join } from 'node:path';
import { reasonOf } from '@relay/machine';
import { openCaps } from './caps.ts';
import { systemClock } from './clock.ts';
import { openAllContents } from './contents.ts';
import type { DaemonOptions } from './daemon-options.ts';
import { openIncoming } from './incoming.ts';
import { openJournal } from './journal.ts';
import { silentLog } from './log.ts';
import { makePrivateFolder } from './private-folder.ts';
import { openQuestions } from './questions.ts';
import { openSpending } from './spending.ts';
import { fileNameOf, openStore } from './store.ts';

export type DaemonFiles = ReturnType<typeof openFiles>;

/** Opens the files of the daemon, which other daemons must not use. Throws if the folder is unusable. */
export function openFiles({ storeDir, agentType, exchange, clock = systemClock, log = silentLog }: DaemonOptions) {
  makePrivateFolder(storeDir);
  const store = openStore(join(storeDir, 'sessions'), () => clock.now());
  if (store.unreadable > 0) log.warn('history lines skipped', { lines: store.unreadable });
  const onTrouble = (what: string, why: string) => log.warn(what, { why });
  const agentTypeOf = (sessionId: string) => store.session(sessionId)?.agentType ?? agentType;
  const spending = openSpending({ file: join(storeDir, 'spending.jsonl'), clock, agentTypeOf, onTrouble });
  return {
    store,
    exchange,
    contents: openAllContents({
      folder: join(storeDir, 'sessions'),
      nameOf: fileNameOf,
      onTrouble: (error) => log.warn('content not kept', { why: reasonOf(error) }),
    }),
    incoming: openIncoming({ folder: join(storeDir, 'incoming'), clock }),
    journal: openJournal({ file: join(storeDir, 'tasks.jsonl'), clock, onTrouble }),
    questions: openQuestions({ file: join(storeDir, 'questions.json'), clock, onTrouble }),
    spending,
    caps: openCaps({ file: join(storeDir, 'caps.json'), clock, spending, agentTypeOf, onTrouble }),
  };
}
