/** The hook `PermissionRequest` of Claude Code: its request as a question, and the answer of a person as its decision. Pure. */
import { type Question, recordOf, textOf } from '@relay/daemon-kit';
import { askPermission } from '../agents/acp/permission.ts';
import { toolOf } from '../agents/history/claude-tools.ts';

/** Tools whose answer is more than yes or no. */
const others: ReadonlySet<string> = new Set(['AskUserQuestion']);
const allow = { optionId: 'allow', name: 'Allow once', kind: 'allow_once' };
const reject = { optionId: 'reject', name: 'Reject', kind: 'reject_once' };

export interface HookRequest {
  sessionId: string;
  question: Question;
}

/** Undefined for anything but a request that can be answered with yes or no. */
export function requestIn(value: unknown): HookRequest | undefined {
  const request = recordOf(value);
  const [sessionId, tool, cwd] = [textOf(request.session_id), textOf(request.tool_name), textOf(request.cwd)];
  if (request.hook_event_name !== 'PermissionRequest' || sessionId === '' || tool === '' || others.has(tool))
    return undefined;
  const input = recordOf(request.tool_input);
  const toolCall = { toolCallId: '', ...toolOf(tool, input, cwd), rawInput: input };
  return { sessionId, question: askPermission({ toolCall, options: [allow, reject] }, cwd).question('') };
}

/** The decision for an option, or for the text of a rejection. */
export function decisionFor(option: string | undefined, words: string): object {
  const text = words.trim();
  const isAllowed = option === undefined ? text.toLowerCase() === allow.name.toLowerCase() : option === allow.optionId;
  const isPlain = option !== undefined || text === '' || text.toLowerCase() === reject.name.toLowerCase();
  const message = isPlain ? 'The user rejected this in an app.' : words;
  const decision = isAllowed ? { behavior: 'allow' } : { behavior: 'deny', message };
  return { hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } };
}
