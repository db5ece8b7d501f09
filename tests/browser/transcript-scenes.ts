/** Sessions for the tests of the log. */
const at = (minute: number) => new Date(Date.UTC(2026, 10, 20, 8, minute)).toISOString();
const words = [
  'The worker acknowledges a job before the store has written it.',
  'A restart in between loses it.',
  'Both limits live in one file.',
];

/** This many items of different heights. */
export function conversation(count: number) {
  return Array.from({ length: count }, (_, index) => {
    const kind = index % 7;
    const base = { uuid: `item-${index}`, timestamp: at(index), seq: index };
    if (kind === 0) return { ...base, role: 'USER', content: `Do step ${index}, please.`, part: { kind: 'user' } };
    if (kind === 3 || kind === 4)
      return {
        ...base,
        role: 'AGENT',
        content: '',
        part: {
          kind: 'tool',
          id: `t${index}`,
          title: 'Read',
          does: 'read',
          status: 'completed',
          places: [{ path: `src/file-${index}.ts` }],
        },
      };
    const length = (index * 7919) % 11;
    const body = Array.from({ length }, (_each, line) => words[(index + line) % words.length]).join(
      length % 2 ? ' ' : '\n\n',
    );
    return { ...base, role: 'AGENT', content: `**Step ${index}** ${body}`, part: { kind: 'text' } };
  });
}

/** One of each part in design §5. */
export function everyPart() {
  let minute = 0;
  const item = (part: { kind: string; [field: string]: unknown }, content = '') => {
    minute += 1;
    const role = part.kind === 'user' ? 'USER' : part.kind === 'mark' || part.kind === 'error' ? 'SYSTEM' : 'AGENT';
    return {
      uuid: `part-${minute}`,
      role,
      content,
      timestamp: new Date(Date.parse('2026-11-20T15:03:00.000Z') + minute * 9000).toISOString(),
      seq: minute,
      part,
    };
  };
  const tool = (fields: object) =>
    item({ kind: 'tool', id: `call-${minute}`, title: '', status: 'completed', ...fields });
  return [
    item(
      { kind: 'user', images: [{ data: 'upload-error.png', mime: 'image/png', bytes: 48_200 }] },
      'Tidy up the upload code, please. Here is what I see.',
    ),
    item({ kind: 'thought' }, 'The user wants the upload code tidied.\n\nI should look at `saveUpload` first.'),
    tool({ does: 'read', places: [{ path: 'src/uploads/save.ts' }] }),
    tool({ does: 'read', places: [{ path: 'src/uploads/parse.ts' }] }),
    tool({ does: 'search', title: 'saveUpload' }),
    item(
      { kind: 'text' },
      '## It is a race, not a slow machine\n\nThe worker acknowledges a job *before* the store has written it, so a restart in between loses it:\n\n```ts\n// queue.ts:88\njob.ack();\nawait store.put(job.id, result);\n```\n\n`sessions` and `sign-in` both use `perAccount()` from `src/limits.ts`, so two changes are enough:\n\n1. **Route:** put the limiter after `signedIn`, so that it counts accounts and not addresses.\n2. **Table:** one migration adds `invites` to the `limit_kind` enum.\n\n- [x] Look at the callers\n- [ ] Write the test\n\n> Quoted from the [handbook](https://example.com/handbook).',
    ),
    item({
      kind: 'plan',
      entries: [
        { text: 'Find every caller of saveUpload', status: 'completed' },
        { text: 'Move size checks in front of the parser', status: 'completed' },
        { text: 'Cover them with tests', status: 'completed' },
        { text: 'Replace the temporary files', status: 'in_progress' },
        { text: 'Remove the old helper', status: 'pending' },
      ],
    }),
    tool({
      does: 'edit',
      title: 'src/invites/route.ts',
      places: [{ path: 'src/invites/route.ts' }],
      diffs: [
        {
          path: 'src/invites/route.ts',
          change: 'edit',
          added: 2,
          removed: 1,
          hunks: [
            {
              old: 11,
              new: 11,
              lines: [
                ' const router = Router();',
                "+const limit = perAccount({ times: 10, every: '1m' });",
                ' ',
                "-router.post('/invites', signedIn, create);",
                "+router.post('/invites', signedIn, limit, create);",
                " router.get('/invites/:id', signedIn, read);",
              ],
            },
          ],
        },
      ],
    }),
    tool({ does: 'execute', command: 'grep -rn saveUpload src', status: 'pending' }),
    tool({ does: 'execute', command: 'npm test -- uploads', status: 'running' }),
    tool({ does: 'execute', command: 'npm run lint', output: 'no problems\n', exit: 0 }),
    tool({
      does: 'execute',
      command: 'npm run build',
      status: 'failed',
      exit: 1,
      output:
        "\u001b[2m> garden-api@2.4.0 build\u001b[0m\n\u001b[31merror\u001b[0m TS2345: Argument of type \u001b[33m'Buffer'\u001b[0m is not assignable.\n  \u001b[32msrc/uploads/save.ts\u001b[0m:41:18\n",
    }),
    tool({ does: 'execute', command: 'rm -r tmp/uploads', status: 'cancelled' }),
    item(
      { kind: 'text' },
      'Uploads are checked before they are read now:\n\n| Case | Before | Now |\n| --- | ---: | ---: |\n| 6 MB image | 1,840 ms | 12 ms |\n| Empty file | 500 | 422 |\n\n<img src=x onerror="document.title=1"> stays text.',
    ),
    item({
      kind: 'question',
      state: 'answered',
      question: { title: 'npm run db:migrate', options: [{ id: 'a', label: 'Allow once' }] },
      answer: { option: 'a', at: '2026-11-20T15:11:00.000Z', by: 'iPhone' },
    }),
    item({ kind: 'question', state: 'expired', question: { title: 'Delete the old bucket?', options: [] } }),
    item({ kind: 'text' }, 'The old helper is only used by the import script, so I would'),
    item({ kind: 'mark', what: 'cancelled' }),
    item({ kind: 'error' }, 'Claude Code exited with code 137, out of memory.'),
  ];
}
