/**
 * Forms of an agent in the question card, and several concurrent questions: fill in, check, keep, refuse beside the
 * field, send.
 */
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { describeWith } from '@relay/testing/needs';
import type { Registration } from '@relay/testing';
import type { Browser, Locator } from 'playwright-core';
import {
  type BrowserRelay,
  type Person,
  everyLook,
  launchBrowser,
  newPerson,
  registeredDevice,
  startBrowserRelay,
  untilKept,
  axeFindings,
} from './browser.ts';
import { type TranscriptDaemon, connectTranscriptDaemon, item, put } from './transcript-daemon.ts';

const fields = [
  {
    name: 'where',
    title: 'Where should large uploads go?',
    type: 'choice',
    choices: [
      { id: 'bucket', label: 'The bucket we have', about: 'No new secret, 5 GB at most' },
      { id: 'disk', label: 'A disk on build-server', about: 'Fast, but not backed up' },
    ],
    required: true,
    text: true,
  },
  {
    name: 'types',
    title: 'Which types of file are allowed?',
    type: 'choices',
    choices: [
      { id: 'png', label: 'Images' },
      { id: 'pdf', label: 'Documents' },
      { id: 'zip', label: 'Archives' },
    ],
    min: 1,
    max: 2,
    default: 'Images',
    required: true,
  },
  {
    name: 'days',
    title: 'Days that an upload is kept',
    type: 'integer',
    min: 1,
    max: 365,
    default: '30',
    required: true,
  },
  {
    name: 'notify',
    title: 'Notify the uploader?',
    type: 'boolean',
    about: 'By e-mail, when a file is removed.',
    required: true,
  },
  { name: 'note', title: 'Note for the review', type: 'text', max: 500 },
];

interface Question {
  uuid: string;
  title: string;
  kind: string;
  options: { id: string; label: string }[];
  text: boolean;
}

describeWith('chromium', 'a form of an agent', () => {
  let relay: BrowserRelay;
  let browser: Browser;
  let person: Person;
  let registration: Registration;
  let daemon: TranscriptDaemon;

  beforeAll(async () => {
    relay = await startBrowserRelay();
    browser = await launchBrowser();
    person = await newPerson(browser, relay.url, { viewport: { width: 1360, height: 860 } });
    await person.createAccount(relay.setupLink, 'ada@example.com');
    registration = await registeredDevice(person, 'MacBook Pro');
    daemon = await connectTranscriptDaemon(relay.relay, registration);
  });
  afterAll(async () => {
    await browser?.close();
    await daemon?.drop();
    await relay?.end();
  });
  afterEach(() => expect(person.complaints.splice(0)).toEqual([]));

  const questionOf = (uuid: string, title: string, more: object): Question => ({
    uuid,
    title,
    kind: 'form',
    options: [],
    text: true,
    ...more,
  });
  const askItem = (nativeId: string, seq: number, question: Question) =>
    daemon.keep(nativeId, [
      put(item(question.uuid, seq, { kind: 'question', question, state: 'open' }, question.title)),
    ]);

  /** The id of the newest session before its agent named it. */
  let pendingId = '';

  /** A session whose agent asks these questions and waits. */
  async function asking(nativeId: string, ...questions: Question[]): Promise<string> {
    await person.goto('/sessions/new');
    await person.page.getByLabel(/^What should/).fill(`Move the uploads: ${nativeId}`);
    await person.click('Start session');
    const task = await daemon.next('task_start');
    await person.page.waitForURL(/PENDING-/);
    pendingId = decodeURIComponent(new URL(person.page.url()).pathname).split(':').at(-1)!;
    const taskId = task.task_id as string;
    daemon.send({ type: 'status', running_tasks: [taskId] });
    daemon.event(taskId, 'SESSION_STARTED', { session_id: nativeId });
    daemon.say(taskId, nativeId, [put(item(task.message_uuid as string, 1, { kind: 'user' }, 'Move the uploads'))]);
    const [first, ...others] = questions;
    const about = { session_id: nativeId };
    for (const [at, question] of questions.entries()) askItem(nativeId, at + 2, question);
    const asked = { prompt: first!.title, result: '', options: [], message_uuid: first!.uuid, question: first };
    daemon.event(taskId, 'WAIT_FOR_USER', { ...about, ...asked });
    daemon.send({ type: 'status', running_tasks: [], open_prompts: questions.map(({ uuid }) => uuid) });
    for (const question of others) daemon.event(taskId, 'PROMPT_OPEN', { ...about, question });
    await card().waitFor();
    return taskId;
  }
  const card = () => person.page.locator('[data-prompt]').locator('visible=true').last();
  const wrong = (): Locator => card().locator('.wrong');
  const option = (name: string | RegExp) => card().getByLabel(name);
  const button = (name: string) => card().getByRole('button', { name, exact: true });

  it('is filled in field by field, with its defaults and bounds, and sent as values', async () => {
    await asking('native-form', questionOf('form-1', 'A few things before I start', { fields }));
    await card().getByText('1 of 5').waitFor();
    // Without a choice, an error appears beside the field, and the page sends nothing.
    await button('Next').click();
    await wrong().waitFor();
    expect(await wrong().innerText()).toBe('Answer this to continue.');
    await everyLook(person, 'form-choice-missing');
    await option(/^A disk on build-server/).check();
    await option(/^Something else/).check();
    await card().getByLabel('Say it in your own words').fill('On the NAS');
    await everyLook(person, 'form-own-words');
    await button('Next').click();
    await card().getByText('2 of 5').waitFor();
    expect(await option('Images').isChecked()).toBe(true);
    await option('Documents').check();
    await option('Archives').check();
    await button('Next').click();
    expect(await wrong().innerText()).toBe('Choose from 1 to 2 choices.');
    await everyLook(person, 'form-choices-wrong');
    await option('Images').uncheck();
    await button('Next').click();
    const days = card().getByLabel('Days that an upload is kept');
    expect(await days.inputValue()).toBe('30');
    for (const [typed, problem] of [
      ['soon', 'Enter a whole number.'],
      ['2.5', 'Enter a whole number.'],
      ['400', 'Enter a number from 1 to 365.'],
      ['', 'Answer this to continue.'],
    ] as const) {
      await days.fill(typed);
      await days.press('Enter');
      await wrong().getByText(problem, { exact: true }).waitFor();
      expect(await days.getAttribute('aria-invalid')).toBe('true');
    }
    await everyLook(person, 'form-number-wrong');
    await days.fill('7');
    await days.press('Enter');
    await card().getByText('4 of 5').waitFor();
    await everyLook(person, 'form-boolean');
    expect(await axeFindings(person)).toEqual([]);
    await option('No').check();
    await button('Back').click();
    expect(await card().getByLabel('Days that an upload is kept').inputValue()).toBe('7');
    await button('Next').click();
    expect(await option('No').isChecked()).toBe(true);
    await button('Next').click();
    await card().getByLabel('Note for the review').fill('Ask Bob.');
    await everyLook(person, 'form-text');
    await button('Send answer').click();
    const answer = await daemon.next('task_resume');
    expect(answer).toMatchObject({
      session_id: 'native-form',
      prompt_uuid: 'form-1',
      fields: { where: 'On the NAS', types: ['pdf', 'zip'], days: 7, notify: false, note: 'Ask Bob.' },
    });
    daemon.event(answer.task_id as string, 'TASK_COMPLETE', { session_id: 'native-form', result: 'Moved.' });
    daemon.send({ type: 'status', running_tasks: [] });
    await card().waitFor({ state: 'detached' });
  });

  it('keeps its values and its place after a reload', async () => {
    await asking('native-kept', questionOf('form-2', 'A few things before I start', { fields }));
    await option(/^The bucket we have/).check();
    await button('Next').click();
    await option('Documents').check();
    await card().getByText('2 of 5').waitFor();
    await person.page.reload();
    await card().getByText('2 of 5').waitFor();
    expect(await option('Documents').isChecked()).toBe(true);
    await button('Back').click();
    expect(await option(/^The bucket we have/).isChecked()).toBe(true);
  });

  it('shows a refusal of the relay beside its field, and omits an optional field', async () => {
    const [where] = fields;
    await asking(
      'native-refused',
      questionOf('form-3', 'Two things', { fields: [fields[3], { ...where, required: false }] }),
    );
    await option('Yes').check();
    await button('Next').click();
    await card().getByText('Optional').waitFor();
    await person.page.route(
      /\/prompts\/form-3\/answer$/,
      (route) =>
        route.fulfill({
          status: 400,
          json: { code: 'INVALID_ANSWER', error: 'The field "notify" must be true or false.', status: 400 },
        }),
      { times: 1 },
    );
    await button('Send answer').click();
    await card().getByText('1 of 2').waitFor();
    expect(await wrong().innerText()).toBe('The field "notify" must be true or false.');
    await option('No').check();
    await button('Next').click();
    await button('Send answer').click();
    const answer = await daemon.next('task_resume');
    expect(answer).toMatchObject({ prompt_uuid: 'form-3', fields: { notify: false } });
    expect(answer.fields).not.toHaveProperty('where');
    daemon.event(answer.task_id as string, 'TASK_COMPLETE', { session_id: 'native-refused', result: 'Fine.' });
    daemon.send({ type: 'status', running_tasks: [] });
  });

  const choice = (uuid: string, title: string): Question => ({
    ...questionOf(uuid, title, {}),
    kind: 'choice',
    options: [
      { id: 'yes', label: 'Yes, please' },
      { id: 'no', label: 'Not now' },
    ],
  });

  it('shows several questions one at a time, and binds each answer to the visible one', async () => {
    await asking(
      'native-several',
      choice('several-1', 'Delete the old bucket?'),
      choice('several-2', 'Write a note?'),
      choice('several-3', 'Tell Bob?'),
    );
    await card().getByText('question 1 of 3').waitFor();
    await card().getByRole('heading', { name: 'Delete the old bucket?' }).waitFor();
    await button('Next').click();
    await card().getByText('question 2 of 3').waitFor();
    await everyLook(person, 'questions-several');
    await button('Back').click();
    await card().getByRole('heading', { name: 'Delete the old bucket?' }).waitFor();
    await button('Next').click();
    await card().getByRole('heading', { name: 'Write a note?' }).waitFor();
    await button('Not now').click();
    expect(await daemon.next('task_resume')).toMatchObject({ prompt_uuid: 'several-2', option_id: 'no' });
    await card().getByText('question 1 of 2').waitFor();
    await card().getByRole('heading', { name: 'Delete the old bucket?' }).waitFor();
  });

  it('keeps the values of each of two forms, even from a time when the session had another id', async () => {
    const one = { fields: [fields[3]] };
    await asking('native-two', questionOf('two-1', 'The first form', one), questionOf('two-2', 'The second form', one));
    await card().getByRole('heading', { name: 'The first form' }).waitFor();
    await option('Yes').check();
    await button('Next').click();
    await card().getByRole('heading', { name: 'The second form' }).waitFor();
    await option('No').check();
    await button('Back').click();
    await card().getByRole('heading', { name: 'The first form' }).waitFor();
    await card().getByRole('radio', { name: 'Yes', checked: true }).waitFor();
    await button('Next').click();
    await card().getByRole('radio', { name: 'No', checked: true }).waitFor();
    const name = `form two-1 ${registration.deviceId}:scripted:`;
    await untilKept(person.page, 'relay', 'drafts', `${name}native-two`);
    await person.page.evaluate(`new Promise((resolve, reject) => {
      const request = indexedDB.open('relay');
      request.onsuccess = () => {
        const tx = request.result.transaction('drafts', 'readwrite');
        const drafts = tx.objectStore('drafts');
        drafts.get('${name}native-two').onsuccess = ({ target }) => {
          drafts.put(target.result, '${name}${pendingId}');
          drafts.delete('${name}native-two');
        };
        tx.oncomplete = () => resolve(request.result.close());
        tx.onerror = () => reject(tx.error);
      };
    })`);
    await person.page.reload();
    await card().getByRole('heading', { name: 'The first form' }).waitFor();
    await card().getByRole('radio', { name: 'Yes', checked: true }).waitFor();
  });

  const loseNetwork = () => person.page.route(/\/answer$/, (route) => route.abort(), { times: 1 });
  const networkIsBack = () => person.page.evaluate(`dispatchEvent(new Event('online'))`);
  const waits = () => person.page.getByText(/It will be sent automatically/);

  it('sends an answer that waited for the network to its own question, even if another one is visible', async () => {
    await asking('native-late', choice('late-1', 'Delete the old bucket?'), choice('late-2', 'Write a note?'));
    await loseNetwork();
    await button('Yes, please').click();
    await waits().waitFor();
    await button('Next').click();
    await card().getByRole('heading', { name: 'Write a note?' }).waitFor();
    await networkIsBack();
    expect(await daemon.next('task_resume')).toMatchObject({ prompt_uuid: 'late-1', option_id: 'yes' });
    person.complaints.splice(0);
  });

  it('leaves it to the person to send fields that changed while they waited for the network', async () => {
    await asking('native-changed', questionOf('form-4', 'One thing before I start', { fields: [fields[3]] }));
    await loseNetwork();
    await option('Yes').check();
    await button('Send answer').click();
    await waits().waitFor();
    await option('No').check();
    await waits().waitFor({ state: 'detached' });
    await networkIsBack();
    await button('Send answer').click();
    expect(await daemon.next('task_resume')).toMatchObject({ prompt_uuid: 'form-4', fields: { notify: false } });
    person.complaints.splice(0);
  });

  it('drops an answer that waited for the network when its question is gone, and answers no other', async () => {
    const taskId = await asking('native-gone', choice('gone-1', 'Delete the old bucket?'));
    await loseNetwork();
    await button('Yes, please').click();
    await waits().waitFor();
    const about = { session_id: 'native-gone' };
    askItem('native-gone', 3, choice('gone-2', 'Delete the new bucket?'));
    daemon.event(taskId, 'PROMPT_OPEN', { ...about, question: choice('gone-2', 'Delete the new bucket?') });
    await card().getByText('1 of 2').waitFor();
    daemon.event(taskId, 'PROMPT_CLOSED', { ...about, uuid: 'gone-1', state: 'superseded', status: 'waiting' });
    await card().getByRole('heading', { name: 'Delete the new bucket?' }).waitFor();
    await waits().waitFor({ state: 'detached' });
    await networkIsBack();
    await button('Not now').click();
    expect(await daemon.next('task_resume')).toMatchObject({ prompt_uuid: 'gone-2', option_id: 'no' });
    person.complaints.splice(0);
  });
});
