/** The tasks of a field daemon: the tasks that reached it, its frames about them, and the list of its `status`. */
import type { Habits } from './field-habits.ts';
import type { FieldSessions } from './field-sessions.ts';
import type { Frame } from './inbox.ts';

export interface FieldTask {
  readonly id: string;
  readonly native: string;
  readonly instruction: string;
}

interface Surroundings {
  habits: Habits;
  sessions: FieldSessions;
  /** Drops the frame while disconnected. */
  send: (frame: Frame) => void;
  /** Reports a change of a watched session. */
  activity: (native: string, isCompletion: boolean) => void;
  isConnected: () => boolean;
  work: ((task: FieldTask) => readonly string[] | Promise<readonly string[]>) | undefined;
}

export function createFieldTasks({ habits, sessions, send, activity, isConnected, work }: Surroundings) {
  /** The list of `status`: task → still running. */
  const listed = new Map<string, boolean>();
  /** Task → session. */
  const running = new Map<string, string>();
  const untaken: FieldTask[] = [];
  const takers: ((task: FieldTask) => void)[] = [];

  const event = (task: FieldTask, eventType: string, fields: Record<string, unknown>) =>
    send({
      type: 'event',
      task_id: task.id,
      event_type: eventType,
      ...(!habits.neverNames && { session_id: task.native }),
      ...fields,
    });
  const status = () => send({ type: 'status', running_tasks: habits.emptyStatus ? [] : [...listed.keys()] });
  const changed = (taskId: string, runs: boolean) => {
    if (runs || habits.growingStatus) listed.set(taskId, runs);
    else if (habits.statusOnce && !isConnected()) listed.set(taskId, false);
    else listed.delete(taskId);
    if (!habits.statusOnce && !habits.quietStatus) status();
  };

  const say = (task: FieldTask, ...texts: string[]) => {
    for (const text of texts) {
      const { uuid, content, timestamp } = sessions.store(task.native, 'AGENT', text);
      if (habits.textPerEvent) event(task, 'AGENT_RESPONSE', { uuid, content, timestamp });
    }
  };
  const ended = (task: FieldTask, eventType: string, fields: Record<string, unknown>) => {
    running.delete(task.id);
    event(task, eventType, fields);
    activity(task.native, eventType === 'TASK_COMPLETE');
    changed(task.id, false);
  };
  const finish = (task: FieldTask, ...texts: string[]) => {
    say(task, ...texts);
    const result = habits.emptyResult ? '' : texts.join('\n\n') + (habits.newlineResult ? '\n' : '');
    ended(task, 'TASK_COMPLETE', { result });
  };

  return {
    status,
    say,
    finish,
    fail: (task: FieldTask, error: string) => ended(task, 'ERROR', { error }),
    ask: (task: FieldTask, question: string, ...options: string[]) => {
      const labels = options.map((label) => ({ label }));
      ended(
        task,
        'WAIT_FOR_USER',
        habits.questionInContext
          ? { prompt: 'Permission required for: Bash', context: question }
          : { prompt: question, result: question, options: labels },
      );
    },
    next: (): Promise<FieldTask> =>
      untaken.length > 0 ? Promise.resolve(untaken.shift()!) : new Promise((resolve) => takers.push(resolve)),
    isBusy: (native: string) => [...running.values()].includes(native),
    arrived(task: FieldTask, isNew: boolean, project?: string) {
      sessions.open(task.native, true, project);
      sessions.store(task.native, 'USER', task.instruction);
      running.set(task.id, task.native);
      changed(task.id, true);
      if (isNew && !habits.neverNames) event(task, 'SESSION_STARTED', {});
      const taker = takers.shift();
      if (taker) taker(task);
      else untaken.push(task);
      if (!work) return;
      void Promise.resolve(work(task)).then((texts) => {
        if (running.has(task.id)) finish(task, ...texts);
      });
    },
    cancelled(taskId: string) {
      running.delete(taskId);
      changed(taskId, false);
    },
    /** `status` after a connect: lists tasks that completed during the absence one last time. */
    firstStatus() {
      status();
      for (const [id, runs] of listed) if (!runs && !habits.growingStatus) listed.delete(id);
    },
  };
}
