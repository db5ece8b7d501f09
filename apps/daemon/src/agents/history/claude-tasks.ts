/**
 * The list of tasks that Claude Code keeps with its tools TaskCreate, TaskUpdate and TaskList, as its adapter reports it in ACP: as the plan of
 * the turn, whole each time. Pure; reads by shape.
 */
import { type Row, recordOf, textIn, wordsOf } from './native.ts';

interface Task {
  subject: string;
  status: string;
  activeForm: string;
}

interface TaskList {
  /** True if a tool of this name edits the task list: people do not see it as a tool call. */
  has(name: string): boolean;
  /** A call began. */
  called(id: string, name: string, input: Row): void;
  /** Its result, as `toolUseResult` of the row or as text: the plan after it, or nothing. */
  ended(id: string, result: Row, block: Row): Row[];
}

export function createTaskList(): TaskList {
  const calls = new Map<string, { name: string; input: Row }>();
  const tasks = new Map<string, Task>();

  const take = (id: string, fields: Row) => {
    const previous = tasks.get(id);
    const subject = textIn(fields, 'subject') || (previous?.subject ?? '');
    // Its beginning is not in the part of the file that was read.
    if (id === '' || subject === '') return;
    const status = textIn(fields, 'status') || (previous?.status ?? 'pending');
    tasks.set(id, { subject, status, activeForm: textIn(fields, 'activeForm') || (previous?.activeForm ?? '') });
  };
  const changes: Readonly<Record<string, (input: Row, result: Row, words: string) => boolean>> = {
    TaskCreate(input, result, words) {
      const [, named] = /^Task #(\S+) created successfully: /.exec(words) ?? [];
      take(textIn(recordOf(result.task), 'id') || (named ?? ''), { ...input, status: 'pending' });
      return true;
    },
    TaskUpdate(input, result, words) {
      if (result.success === false || /^Task #\S+ not found$|^Failed to delete task$/.test(words)) return false;
      if (input.status === 'deleted') tasks.delete(textIn(input, 'taskId'));
      else take(textIn(input, 'taskId'), input);
      return true;
    },
    TaskList(_input, result) {
      if (!Array.isArray(result.tasks)) return false;
      const before = new Map(tasks);
      tasks.clear();
      for (const task of (result.tasks as unknown[]).map(recordOf)) {
        const id = textIn(task, 'id');
        take(id, { ...task, activeForm: before.get(id)?.activeForm ?? '' });
      }
      return true;
    },
    TaskGet: () => false,
  };

  return {
    has: (name) => Object.hasOwn(changes, name),
    called: (id, name, input) => void calls.set(id, { name, input }),
    ended(id, result, block) {
      const call = calls.get(id);
      if (!call || block.is_error === true) return [];
      calls.delete(id);
      const words = wordsOf(block.content).trim();
      if (!changes[call.name]!(call.input, result, words)) return [];
      const entries = [...tasks.values()].map(({ subject, status, activeForm }) => ({
        content: status === 'in_progress' && activeForm !== '' ? activeForm : subject,
        status,
        priority: 'medium',
      }));
      return [{ sessionUpdate: 'plan', entries }];
    },
  };
}
