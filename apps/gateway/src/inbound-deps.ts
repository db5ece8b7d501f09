/** What the meaning of frames works with. */
import type { Publisher } from '@relay/attention';
import type { RelayConfig } from '@relay/config';
import type { Database, SessionRecord } from '@relay/database';
import type { DaemonConnection } from './connection.ts';
import type { FairShare } from './fair-share.ts';
import type { History } from './history.ts';
import type { GatewayMetrics } from './metrics.ts';
import type { Outcomes } from './outcomes.ts';
import type { ProgressBoard } from './progress.ts';
import type { TaskWriter } from './tasks-out.ts';
import type { Unnamed } from './unnamed.ts';
import type { Watching } from './watching.ts';

export interface InboundDeps {
  config: RelayConfig;
  database: Database;
  publisher: Publisher;
  progress: ProgressBoard;
  writer: TaskWriter;
  watching: Watching;
  history: History;
  outcomes: Outcomes;
  unnamed: Unnamed;
  metrics: GatewayMetrics;
  share: FairShare;
  /** A notification was written: somebody may send it now. */
  notify(): void;
  /** The session of a native id of this device; made known to the relay if it is new. */
  sessionOf(connection: DaemonConnection, nativeId: string): Promise<SessionRecord | undefined>;
}
