/** Every check, in running order: checks that wait for a clock come late, checks that use up the limits last. */
import type { Check } from '../check.ts';
import { attention } from './attention.ts';
import { authentication } from './authentication.ts';
import { capabilities } from './capabilities.ts';
import { daemonDoor } from './daemon-door.ts';
import { daemonFrames, keepalive } from './daemon-frames.ts';
import { delivery } from './delivery.ts';
import { devices } from './devices.ts';
import { errors, failures } from './errors.ts';
import { events } from './events.ts';
import { history } from './history.ts';
import { limits } from './limits.ts';
import { questions } from './questions.ts';
import { registration } from './registration.ts';
import { reports } from './reports.ts';
import { service } from './service.ts';
import { sessions } from './sessions.ts';
import { strangers } from './strangers.ts';
import { tasks } from './tasks.ts';
import { transcript } from './transcript.ts';
import { watching } from './watching.ts';

export const checks: readonly Check[] = [
  ...service,
  ...authentication,
  ...registration,
  ...devices,
  ...daemonDoor,
  ...daemonFrames,
  ...sessions,
  ...tasks,
  ...events,
  ...reports,
  ...history,
  ...watching,
  ...capabilities,
  ...transcript,
  ...questions,
  ...delivery,
  ...attention,
  ...errors,
  ...strangers,
  ...keepalive,
  ...failures,
  ...limits,
];
