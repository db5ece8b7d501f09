/**
 * All examples share one story: Ada asks the agent on her workstation for a watering schedule, the agent asks her for
 * the time zone, she answers, and it finishes. Facts that several examples share are here, and only here.
 */
import { formatSessionId, placeholderNativeId } from '../session-id.ts';
import type { Message, Summary } from '../rest/conversation.ts';
import type { Held } from '../rest/desk.ts';
import type { Setting } from '../rest/settings.ts';

export const userId = '01KGFRDGBRV7YVSD1SJ8N31SAV';
export const deviceId = '01KKNS432D55V5NJG7Z511KRKZ';
export const agentType = 'claude_code';
export const hostname = 'ada-workstation';
export const deviceName = "Ada's workstation";
export const userCode = 'BDWP-HQPK';
export const deviceCode = 'Zt8Yx2Kq0WmR4uN6vB1cJ3hL5gF7dS9aPoIiUuYyTtE';
/** Not a credential of anything: the shape of one. */
export const refreshToken = 'rly_drt_EXAMPLE0nly0not0a0credential0000000000000000000_000000';
export const acpToken = 'rly_acp_EXAMPLE0nly0not0a0credential0000000000000000000';
export const deviceKey = 'rly_key_EXAMPLE0nly0not0a0credential0000000000000000000';
export const accessToken = 'eyJhbGciOiJFUzI1NiJ9.EXAMPLE.not-a-credential';
export const webhookSecret = 'whsec_EXAMPLE0nly0not0a0secret';
export const vapidKey = 'BDd3_hVL9fZi9Ybo2UUzA284WG5FZR30_95YeZJsiApwXKpNcF1rRPF3foIiBHXRdJI2Qhumhf6_LFTeZaNndIo';
export const ticket = 'wst_EXAMPLE0nly0not0a0credential';
export const daemonVersion = '1.4.2';
export const instance = 'gateway-7c9d-k2f81x';

export const nativeId = 'f3b1c8de-5a0e-4c1d-9a3f-2b7c6d5e4f30';
const placeholderId = placeholderNativeId('01KKNSR4J0JQ7D587X9M2RYZR0');
export const sessionId = formatSessionId({ deviceId, agentType, nativeId });
export const pendingSessionId = formatSessionId({ deviceId, agentType, nativeId: placeholderId });
/** The row of the session, as instances name it to each other. */
export const sessionKey = '01KKNSR4J06G80F0EC1Q57KJN8';
export const projectPath = '/home/ada/projects/garden';
export const filePath = `/home/ada/.claude/projects/-home-ada-projects-garden/${nativeId}.jsonl`;
/** One pixel. */
export const image =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=';
export const title = 'Add a watering schedule to the garden app and run the tests.';

/** The first message, the answer to the question, a failed message, a message that Ada cancelled, and a steer. */
export const tasks = {
  start: '01KKNSR4J0F1EENPC7TF5HF8E7',
  answer: '01KKNSXYQZXNEGM11GJERNRBMJ',
  failed: '01KKNTBD7RQXWQ7E4HPGRKJVGA',
  cancelled: '01KKNTHYMEVDYTG0Q319VES02F',
  steer: '01KKNTM2V6Q4C2ZJ5M0N7R8T9X',
} as const;
export const requestId = '01KKNT5JBP724TZX1JZ1D05168';

export const times = {
  codeRequested: '2026-03-14T08:58:12.402Z',
  registered: '2026-03-14T08:59:03.117Z',
  connected: '2026-03-14T08:59:04.250Z',
  created: '2026-03-14T09:10:00.000Z',
  sent: '2026-03-14T09:10:00.038Z',
  started: '2026-03-14T09:10:01.512Z',
  progress: '2026-03-14T09:10:24.871Z',
  asked: '2026-03-14T09:12:30.204Z',
  answered: '2026-03-14T09:13:10.655Z',
  answerSent: '2026-03-14T09:13:10.691Z',
  completed: '2026-03-14T09:15:42.330Z',
} as const;

export const question = 'Which time zone should the schedule use?';
export const questionInFull =
  'The schedule needs a time zone, and the project does not say which. Which time zone should the schedule use?';
export const choices = [{ label: 'Europe/Paris' }, { label: 'UTC' }];
export const answer = 'Europe/Paris';
export const result = 'Added src/schedule.ts with a daily watering schedule in Europe/Paris. All 42 tests pass.';
export const output = '$ npm test\nTests: 42 passed, 42 total\n';
export const failure = 'The agent process exited with code 1';

export const messages = [
  { uuid: '0b6c1f0e-3d52-4f0a-8f5e-1c9a7e2d4b60', role: 'USER', content: title, timestamp: times.created },
  { uuid: '5d1f8a34-9b7e-4c26-a0d3-6e4f2b8c1a71', role: 'AGENT', content: questionInFull, timestamp: times.asked },
  { uuid: '8e2a7c45-1f6d-4b93-b5c8-7a3d9e0f2c82', role: 'USER', content: answer, timestamp: times.answered },
  { uuid: 'c47b9d56-2e8f-4a1b-96d7-8b5e0f1a3d93', role: 'AGENT', content: result, timestamp: times.completed },
] as const satisfies readonly Message[];

export const fileIdExample = '01KKNT3B6Q4M8Z1R5T7YB3C6DE';
/** The first piece of the output of a tool. */
export const piece = { mime: 'text/plain', size: 40_960, data: btoa('Tests: 42 passed, 42 total\n') };

/** The cost of her session, and the limits of her plan. */
export const usage = {
  cost: { amount: 0.12, currency: 'USD' },
  limits: [
    {
      id: 'five_hour',
      name: '5 hours',
      used: 0.72,
      resets: '2026-03-14T12:00:00.000Z',
      state: 'allowed',
      as_of: times.completed,
    },
  ],
};

/** A message that a search for "watering" finds. */
export const hit = {
  uuid: messages[0].uuid,
  role: messages[0].role,
  text: messages[0].content,
  timestamp: messages[0].timestamp,
};

/** Her files, as the daemon answers. */
export const change = { path: 'src/schedule.ts', change: 'add', added: 2, removed: 0 };
export const changes = {
  scope: 'uncommitted',
  scopes: ['uncommitted', 'session', 'turn', 'edits'],
  root: projectPath,
  branch: 'watering',
  head: '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
  files: [change],
  count: 1,
  added: 2,
  removed: 0,
};
export const fileDiff = {
  path: change.path,
  change,
  hunks: [{ old: 0, new: 1, lines: ["+export const zone = 'Europe/Paris';", '+export const daily = 7;'] }],
};
export const files = {
  path: 'src',
  entries: [{ name: 'schedule.ts', path: change.path, kind: 'file', bytes: 61, changed: true }],
};
export const file = { path: change.path, kind: 'text', bytes: 61, text: "export const zone = 'Europe/Paris';\n" };

/** Her agents by day, and since when her machine keeps figures. */
export const spending = {
  range: { from: '2026-02-13', to: '2026-03-14', zone: 'Europe/Paris' },
  day: { day: '2026-03-14', turns: 3, cost: usage.cost, tokens: 41_200 },
  since: '2026-01-02T08:00:00.000Z',
};

/** Folders of her machine, as its daemon answers. */
export const folder = {
  path: '/home/ada/projects',
  parent: '/home/ada',
  folders: [
    { name: 'garden', path: projectPath },
    { name: '.attic', path: '/home/ada/projects/.attic' },
  ],
};

/** Ada has the session open in a terminal as well. */
export const held: Held = {
  state: 'idle',
  program: 'Claude Code',
  terminal: 'pts/3',
  since: times.registered,
  at: times.completed,
  sure: true,
  ends: true,
};
export const resume = `cd ~/projects/garden && claude --resume ${nativeId}`;

export const settings = [
  {
    id: 'mode',
    kind: 'mode',
    name: 'Mode',
    value: 'ask',
    options: [
      { id: 'ask', name: 'Ask', description: 'Asks before it changes anything' },
      { id: 'code', name: 'Code' },
    ],
  },
  {
    id: 'model',
    kind: 'model',
    name: 'Model',
    value: 'large',
    options: [
      { id: 'large', name: 'Large' },
      { id: 'small', name: 'Small' },
    ],
  },
] satisfies Setting[];

export const summary = {
  title,
  projectPath,
  initialPrompt: title,
  recentMessages: [{ role: 'AGENT', content: result }],
  lastToolUse: 'npm test',
  messageCount: 4,
  startedAt: times.created,
  lastActivityAt: times.completed,
  status: 'completed',
} satisfies Summary;
