/** Wires the MEANING of frames: one handler per frame type, and their shared parts. */
import type { Publisher } from '@relay/attention';
import type { RelayConfig } from '@relay/config';
import type { Database } from '@relay/database';
import { createActivity } from './activity.ts';
import { createEndings } from './endings.ts';
import { createEvents } from './events.ts';
import type { FairShare } from './fair-share.ts';
import type { History } from '../history/history.ts';
import { createHeldSessions } from './held-sessions.ts';
import { type FrameDispatcher, createInbound } from './inbound.ts';
import type { GatewayMetrics } from '../connection/metrics.ts';
import { createNativeSessions } from './native-sessions.ts';
import { createOutcomes } from '../history/outcomes.ts';
import type { ProgressBoard } from '../sessions/progress.ts';
import { createPrompts } from './prompts.ts';
import { createReports } from './reports.ts';
import { createRunningTasks } from '../tasks/running-tasks.ts';
import { createTextPublisher } from '../sessions/text-publisher.ts';
import { type Status, createStatus } from './status.ts';
import { createSteers } from '../tasks/steers.ts';
import type { TaskWriter } from '../tasks/tasks-out.ts';
import { createTranscript } from './transcript.ts';
import { createUnfoundEnds } from '../history/unfound-outcomes.ts';
import { type Unnamed, createUnnamed } from '../history/unnamed.ts';
import type { Watching } from '../sessions/watching.ts';

interface MeaningDeps {
  config: RelayConfig;
  database: Database;
  publisher: Publisher;
  progress: ProgressBoard;
  writer: TaskWriter;
  watching: Watching;
  history: History;
  metrics: GatewayMetrics;
  share: FairShare;
  /** A notification was written and is ready to send. */
  notify: () => void;
  /**
   * A late event named the session of a finished first task: the owner of the device searches its history for the
   * outcome.
   */
  requestSearch: (deviceId: string, taskId: string) => void;
}

export function createMeaning(deps: MeaningDeps): { inbound: FrameDispatcher; status: Status; unnamed: Unnamed } {
  const { publisher, metrics } = deps;
  const textPublisher = createTextPublisher(publisher);
  const outcomes = createOutcomes({ ...deps, textPublisher });
  const unnamed = createUnnamed({ ...deps, outcomes });
  const sessions = createNativeSessions({ ...deps, unnamed });
  const prompts = createPrompts({ ...deps, sessions });
  const steers = createSteers(deps);
  const findUnfound = createUnfoundEnds({ ...deps, outcomes, unnamed });
  const status = createStatus({ ...deps, outcomes, unnamed, findUnfound, prompts, steers });
  const transcript = createTranscript({ sessions, textPublisher, metrics });
  const endings = createEndings({ ...deps, outcomes, textPublisher, transcript });
  const held = createHeldSessions(deps);
  const inbound = createInbound({
    ...deps,
    sessions,
    status,
    events: createEvents({
      ...deps,
      running: createRunningTasks(deps),
      textPublisher,
      transcript,
      endings,
      prompts,
      steers,
    }),
    reports: createReports({ ...deps, status, unnamed, held }),
    activity: createActivity({ ...deps, outcomes, textPublisher }),
    held,
  });
  return { inbound, status, unnamed };
}
