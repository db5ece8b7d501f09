/** The daemon plane, in both directions: one golden example per frame and per event type. */
import type { daemonEvents, fromDaemonFrames } from '../frames/from-daemon.ts';
import type { toDaemonFrames } from '../frames/to-daemon.ts';
import type { ExamplesOf } from './shape.ts';
import {
  choices,
  failure,
  filePath,
  image,
  daemonVersion,
  messages,
  nativeId,
  output,
  projectPath,
  question,
  questionInFull,
  requestId,
  result,
  tasks,
  times,
  title,
  answer,
} from './story.ts';

export const toDaemonExamples: ExamplesOf<typeof toDaemonFrames> = {
  ping: { type: 'ping' },
  task_start: { type: 'task_start', task_id: tasks.start, instruction: title, project_path: projectPath },
  task_resume: {
    type: 'task_resume',
    task_id: tasks.answer,
    session_id: nativeId,
    message: answer,
    project_path: projectPath,
    images: [image],
  },
  task_cancel: { type: 'task_cancel', task_id: tasks.cancelled },
  get_messages: {
    type: 'get_messages',
    request_id: requestId,
    session_id: nativeId,
    limit: 3,
    after_uuid: messages[0].uuid,
  },
  watch_session: { type: 'watch_session', session_id: nativeId, file_path: filePath },
  unwatch_session: { type: 'unwatch_session', session_id: nativeId },
  version_status: {
    type: 'version_status',
    status: 'update_available',
    your_version: daemonVersion,
    min_version: '1.2.0',
    recommended_version: '1.5.0',
    latest_version: '1.5.3',
    changelog_url: 'https://relay.example.com/daemons/claude_code/changelog',
    message: 'Version 1.5.3 is available.',
  },
  context_request: { type: 'context_request', request_id: requestId, session_id: nativeId },
};

export const fromDaemonExamples: ExamplesOf<typeof fromDaemonFrames> = {
  status: { type: 'status', running_tasks: [tasks.start] },
  report_sessions: {
    type: 'report_sessions',
    sessions: [
      {
        session_id: nativeId,
        slug: 'watering-schedule',
        title,
        project: projectPath,
        project_name: 'garden',
        file_path: filePath,
        last_message: result,
        last_activity: times.completed,
        is_active: false,
        message_count: messages.length,
      },
    ],
  },
  pong: { type: 'pong' },
  messages: {
    type: 'messages',
    request_id: requestId,
    session_id: nativeId,
    messages: messages.slice(1),
    has_more: false,
    oldest_uuid: messages[1].uuid,
    newest_uuid: messages[3].uuid,
  },
  session_activity: {
    type: 'session_activity',
    session_id: nativeId,
    last_message: result,
    message_count: messages.length,
    is_completion: true,
    last_activity: times.completed,
  },
  report_slash_commands: {
    type: 'report_slash_commands',
    session_id: nativeId,
    commands: [
      { name: 'compact', description: 'Summarise the conversation', input_hint: 'what to keep' },
      { name: 'review' },
    ],
  },
  context_response: {
    type: 'context_response',
    request_id: requestId,
    session_id: nativeId,
    context: { used_tokens: 41_200, max_tokens: 200_000 },
  },
};

export const eventExamples: ExamplesOf<typeof daemonEvents> = {
  SESSION_STARTED: { type: 'event', task_id: tasks.start, event_type: 'SESSION_STARTED', session_id: nativeId },
  PROGRESS: {
    type: 'event',
    task_id: tasks.start,
    event_type: 'PROGRESS',
    action: 'Reading',
    target: 'src/schedule.ts',
  },
  OUTPUT: { type: 'event', task_id: tasks.start, event_type: 'OUTPUT', output },
  VERBOSE: { type: 'event', task_id: tasks.start, event_type: 'VERBOSE', session_id: nativeId, content: output },
  TASK_COMPLETE: { type: 'event', task_id: tasks.answer, event_type: 'TASK_COMPLETE', session_id: nativeId, result },
  WAIT_FOR_USER: {
    type: 'event',
    task_id: tasks.start,
    event_type: 'WAIT_FOR_USER',
    prompt: question,
    result: questionInFull,
    options: choices,
  },
  ERROR: { type: 'event', task_id: tasks.failed, event_type: 'ERROR', error: failure },
  AGENT_RESPONSE: {
    type: 'event',
    task_id: '',
    event_type: 'AGENT_RESPONSE',
    session_id: nativeId,
    uuid: messages[3].uuid,
    content: messages[3].content,
    timestamp: messages[3].timestamp,
  },
  USER_MESSAGE: {
    type: 'event',
    task_id: '',
    event_type: 'USER_MESSAGE',
    session_id: nativeId,
    uuid: messages[2].uuid,
    content: messages[2].content,
    timestamp: messages[2].timestamp,
  },
  WARNING: {
    type: 'event',
    task_id: tasks.start,
    event_type: 'WARNING',
    warning: 'The working directory has uncommitted changes',
  },
};
