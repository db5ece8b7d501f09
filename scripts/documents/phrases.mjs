/** The pages use one term for one thing: no built file contains a replaced phrase. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './tree.mjs';

const gone = [
  /[a-z] …/,
  'To the start',
  'To your devices',
  'To your sessions',
  'To the content',
  'Go on with',
  'Its sessions',
  'Keep it',
  'Not live',
  'Looking whether',
  'Archived ones',
  'Nothing is archived',
  'Take out of the archive',
  'Untitled',
  'although a message waits',
  'Show more',
  'The agent works',
  'Handing it to',
  'Waiting for its turn',
  'You cancelled this',
  'failed and said why',
  'a quarter of an hour',
  'cannot be read right now',
  'The rest was cut off',
  'This session was removed',
  'An agent answers you from',
  'plays a built-in demonstration',
  'that could answer',
  'Asked from',
  'Capitals, spaces and the dash',
  'Turning away',
  'good for nothing',
  'registered and approved anew',
  'never connected. Start its daemon',
  'Invite somebody',
  'Good for one account',
  'every program at once',
  'Programs that you allowed',
  'wants to act for',
  'Looking who asks',
  'do not belong together',
  'A program wants to use your account',
  'Nobody has an account here',
  'This relay sends no mail',
  'There is no such',
  'has another address',
  'That was too often',
  'The relay made a mistake',
  'answered instead of it',
  'Too much already waits',
  'This is too large',
  'is not what its name says',
  'was sent before with another text',
  /e-mail/i,
];

/** Replaced phrases in one text. */
export const gonePhrases = (text) =>
  gone.filter((phrase) => (typeof phrase === 'string' ? text.includes(phrase) : phrase.test(text))).map(String);

const pages =
  /^(?:index|conversation|machines|settings|notify|door|palette|help|background|last-page|en-[a-z]+)-.*\.js$/;

export function problems() {
  const dist = join(root, 'apps/web/dist/assets');
  const files = existsSync(dist) ? readdirSync(dist).filter((name) => pages.test(name)) : [];
  if (files.length < 10) return [`${dist} has ${files.length} files of the pages: run \`npm run build\``];
  return files.flatMap((file) =>
    gonePhrases(readFileSync(join(dist, file), 'utf8')).map((phrase) => `${file} has a replaced phrase: ${phrase}`),
  );
}
