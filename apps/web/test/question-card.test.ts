import { beforeAll, expect, it } from '@jest/globals';
import type { Prompt, Session } from '@relay/protocol';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { loadWords } from '../src/catalogue.ts';
import { QuestionCard } from '../src/conversation/question-card.tsx';

beforeAll(() => loadWords('frame', 'session'));

const nothing = () => undefined;
const session = { id: 's', agentType: 'demo', projectPath: '/garden' } as Session;
const form = {
  id: 'q',
  at: '2026-11-20T10:00:00.000Z',
  kind: 'form',
  prompt: 'Before I plant',
  result: '',
  options: [],
  fields: [
    {
      name: 'bed',
      title: 'Which bed?',
      type: 'choice',
      required: true,
      choices: [
        { id: 'north', label: 'The north bed', about: 'In the shade' },
        { id: 'south', label: 'The south bed' },
      ],
    },
  ],
} as unknown as Prompt;

const card = (prompt: Prompt) =>
  renderToStaticMarkup(
    createElement(QuestionCard, {
      ...{ session, device: undefined, prompt, at: 0, all: 1, busy: false, refusal: undefined, dismissing: false },
      ...{ onMove: nothing, onAnswer: nothing, onEdit: nothing, onDismiss: nothing },
      onFields: () => Promise.resolve(true),
    }),
  );

it('W6: a form shows its first field while its script loads', () => {
  const html = card(form);
  for (const text of ['Which bed?', 'The north bed', 'The south bed']) expect(html).toContain(text);
});

const permission = (more: Partial<Prompt>) =>
  card({
    ...{ id: 'q', at: form.at, kind: 'permission', prompt: 'May I?', result: '', text: false },
    options: [{ id: 'y', label: 'Allow', kind: 'allow_once' }],
    ...more,
  });

it('S6: a permission shows its folder, also without a subject and for an empty one', () => {
  for (const subject of [undefined, { type: 'command', command: 'ls', cwd: '' }, { type: 'tool', tool: 'deploy' }])
    expect(permission(subject ? { subject } : {})).toContain('/garden');
});

it('S6: a permission hides no text beside a diff', () => {
  const diff = '--- a/x.ts\n+++ b/x.ts\n@@ -1 +1 @@\n-one\n+two\n';
  expect(permission({ context: diff })).not.toContain('@@');
  for (const context of [`rm one\n${diff}`, `${diff}diff --git a/y b/y\nrm one\n`, `${diff}Index: rm one\n${diff}`])
    expect(permission({ context })).toContain('rm one');
});

it('S6: a command begins at the left in every script', () => {
  const subject = { type: 'command', command: '\u05d0 && rm one', cwd: '/garden' };
  expect(permission({ subject })).toMatch(/<pre [^>]*dir="ltr"><bdi>\u05d0/);
});

it('S6: a command keeps the order of its arguments and folders around right-to-left text', () => {
  const command = 'cp \u05d0 /\u0628/\u0629';
  const subject = { type: 'command', command, cwd: '/\u05d0/\u05d1' };
  const html = permission({ subject, prompt: `Run ${command}?` });
  expect(html).toContain('cp <bdi>\u05d0</bdi> /<bdi>\u0628</bdi>/<bdi>\u0629</bdi></pre>');
  expect(html).toContain('/<bdi>\u05d0</bdi>/<bdi>\u05d1</bdi></code>');
});
