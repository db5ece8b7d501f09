/** The story as its transcript: one golden example per kind of part and per operation. */
import type { Item, Operation, Question, operations, parts } from '../transcript/index.ts';
import type { ExamplesOf } from './shape.ts';
import { messages, projectPath, question, questionInFull, result, times, usage } from './story.ts';

const turn = messages[0].uuid;
const start = Date.parse(times.started);
/** The version after so many frames of the story. */
export const versionAt = (frames: number): number => start + frames;

export const openQuestion: Question = {
  uuid: messages[1].uuid,
  title: question,
  kind: 'choice',
  options: [
    { id: 'opt1', label: 'Europe/Paris' },
    { id: 'opt2', label: 'UTC' },
  ],
  text: true,
  digest: 'c2b28e19b4190d3aaa0cdfe7cc2e3fee',
};

export const permission: Question = {
  uuid: '2f4a6c8e-0b1d-4e3f-a5c7-9d8b6f4e2a13',
  title: 'Run the tests?',
  kind: 'permission',
  options: [
    { id: 'opt1', label: 'Yes', kind: 'allow_once' },
    { id: 'opt2', label: 'No', kind: 'reject_once' },
  ],
  text: true,
  subject: { type: 'command', command: 'npm test', cwd: projectPath },
  expires: times.completed,
  digest: '8c1eeb88479178064bd1322ed36dfb44',
};

export const partExamples: ExamplesOf<typeof parts> = {
  user: { kind: 'user', images: [{ data: 'garden.png', mime: 'image/png', bytes: 68 }] },
  text: { kind: 'text', open: true },
  thought: { kind: 'thought' },
  tool: {
    kind: 'tool',
    id: 'toolu_01',
    name: 'Edit',
    does: 'edit',
    title: 'Edit src/schedule.ts',
    status: 'completed',
    places: [{ path: 'src/schedule.ts', line: 3 }],
    diffs: [
      {
        path: 'src/schedule.ts',
        change: 'edit',
        added: 1,
        removed: 1,
        hunks: [
          { old: 3, new: 3, lines: [' const zone = schedule.zone;', "-const at = '06:00';", "+const at = '06:30';"] },
        ],
      },
    ],
  },
  plan: {
    kind: 'plan',
    entries: [
      { text: 'Write the schedule', status: 'completed', priority: 'high' },
      { text: 'Run the tests', status: 'in_progress', priority: 'medium' },
    ],
  },
  usage: { kind: 'usage', used: 41_200, size: 200_000, ...usage },
  question: {
    kind: 'question',
    question: openQuestion,
    state: 'answered',
    answer: { option: 'opt1', text: 'Europe/Paris', at: times.answered },
  },
  file: { kind: 'file', name: 'report.xlsx', data: 'file', mime: 'application/octet-stream', bytes: 86_016 },
  image: { kind: 'image', data: 'chart.png', mime: 'image/png', bytes: 20_480 },
  error: { kind: 'error', code: 'AGENT_ERROR' },
  mark: { kind: 'mark', what: 'cancelled', text: 'Cancelled by the user.' },
};

const at = (message: (typeof messages)[number]) => ({ content: message.content, timestamp: message.timestamp });
const items: readonly Item[] = [
  { uuid: turn, role: 'USER', ...at(messages[0]), seq: 1, v: versionAt(1), turn, part: { kind: 'user' } },
  {
    uuid: messages[1].uuid,
    role: 'AGENT',
    ...at(messages[1]),
    content: questionInFull,
    seq: 2,
    v: versionAt(4),
    turn,
    part: partExamples.question,
  },
  {
    uuid: messages[2].uuid,
    role: 'USER',
    ...at(messages[2]),
    seq: 3,
    v: versionAt(4),
    turn: messages[2].uuid,
    part: { kind: 'user', answers: messages[1].uuid },
  },
  {
    uuid: messages[3].uuid,
    role: 'AGENT',
    ...at(messages[3]),
    content: result,
    seq: 4,
    v: versionAt(9),
    turn: messages[2].uuid,
    part: { kind: 'text' },
  },
];

export const itemExample = items[1];
/** A page of the story, with parts. */
export const itemPage = { items, v: versionAt(9) };

const tool = '7d0c1f2e-6b3a-4f58-9e21-0c4d8b5a7f61';
export const operationExamples: ExamplesOf<typeof operations> = {
  print: { op: 'print', text: 'Looking at the parser\nchanged src/parser.ts\n' },
  put: {
    op: 'put',
    item: {
      uuid: tool,
      seq: 5,
      turn: messages[2].uuid,
      role: 'AGENT',
      content: '',
      timestamp: times.progress,
      part: {
        kind: 'tool',
        id: 'toolu_02',
        title: 'npm test',
        does: 'execute',
        status: 'running',
        command: 'npm test',
      },
    },
  },
  add: { op: 'add', uuid: tool, to: 'output', text: 'Tests: 42 passed, 42 total\n' },
  set: { op: 'set', uuid: tool, part: { status: 'completed', exit: 0 } },
};
export const ops: Operation[] = [operationExamples.put, operationExamples.add, operationExamples.set];
