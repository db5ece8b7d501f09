/** SHAPE of a task for its daemon: a claimed row → `task_start`, `task_resume` or `task_steer`, with no more than it can read. */
import type { ClaimedTask } from '@relay/database';
import type { ToDaemonFrame } from '@relay/protocol';
import { userItemUuid } from '@relay/protocol/identity';
import type { DaemonConnection } from '../connection/connection.ts';

type Reader = Pick<DaemonConnection, 'agentType' | 'can'>;

/** The images and files of a task. */
export interface AttachedFiles {
  images?: string[];
  files?: string[];
}

export function taskFrame(reader: Reader, task: ClaimedTask, attached: AttachedFiles): ToDaemonFrame {
  const more = {
    ...(task.projectPath === '' ? {} : { project_path: task.projectPath }),
    ...attached,
    ...(reader.can('transcript') ? { message_uuid: userItemUuid(task.id) } : {}),
    ...(task.settings ? { settings: task.settings } : {}),
    ...(task.restricted && reader.can('controls') ? { restricted: task.restricted } : {}),
  };
  if (task.kind === 'start')
    return {
      type: 'task_start',
      task_id: task.id,
      instruction: task.instruction,
      ...more,
      ...(task.agentType === reader.agentType ? {} : { agent_type: task.agentType }),
    };
  if (task.kind === 'steer')
    return {
      type: 'task_steer',
      task_id: task.id,
      into: task.into ?? '',
      session_id: task.nativeId,
      message: task.instruction,
      ...attached,
      message_uuid: userItemUuid(task.id),
    };
  return {
    type: 'task_resume',
    task_id: task.id,
    session_id: task.nativeId,
    message: task.instruction,
    ...more,
    ...answerOf(reader, task),
    ...deskOf(reader, task),
    ...(task.into !== undefined && reader.can('steer') ? { steer: 'next' as const } : {}),
  };
}

/** An agent closes no program: a daemon that does not know `restricted` asks about its message (rules, 24.5). */
function deskOf(reader: Reader, { answer, restricted }: ClaimedTask) {
  if (answer?.desk === undefined || !reader.can('desk')) return {};
  return answer.desk === 'take' && restricted !== undefined && !reader.can('controls') ? {} : { desk: answer.desk };
}

/** The question that a message answers, for a daemon that names its questions; any other daemon gets only the text. */
function answerOf(reader: Reader, { promptUuid, answer }: ClaimedTask) {
  if (promptUuid === undefined || !reader.can('prompts')) return {};
  const { option, fields, digest, on } = answer ?? {};
  return {
    prompt_uuid: promptUuid,
    ...(option === undefined ? {} : { option_id: option }),
    ...(fields === undefined ? {} : { fields }),
    ...(digest === undefined ? {} : { digest }),
    ...(on === undefined ? {} : { answered_on: on }),
  };
}
