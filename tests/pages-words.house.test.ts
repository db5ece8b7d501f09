/** The pages say one thing with one word: what was said otherwise before is in no built file. */
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';

const dist = fileURLToPath(new URL('../apps/web/dist/assets/', import.meta.url));

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

it.each(gone)('%s', (words) => {
  for (const file of readdirSync(dist).filter((name) =>
    /^(?:index|conversation|machines|settings|notify|door|palette|help|background|last-page|en-[a-z]+)-.*\.js$/.test(
      name,
    ),
  ))
    expect(readFileSync(`${dist}${file}`, 'utf8')).not.toMatch(words);
});
