import { beforeAll, describe, expect, it } from '@jest/globals';
import { errorCatalogue, taskErrors } from '@relay/protocol';
import { sentenceFor, taskSentence } from '../src/api/words.ts';
import { loadWords, words } from '../src/catalogue.ts';

beforeAll(() => loadWords('errors'));

const refusal = (code: string, message = '', retryAfterSeconds?: number) => ({ code, message, retryAfterSeconds });

describe('the sentence for an error', () => {
  it('depends on the code', () => {
    expect(sentenceFor(refusal('OFFLINE', 'anything'))).toBe(
      'Can’t reach Relay. Check your connection, then try again.',
    );
  });

  it('is the sentence of the catalogue for a code of the relay', () => {
    expect(sentenceFor(refusal('DEVICE_OFFLINE', 'anything'))).toBe(errorCatalogue.DEVICE_OFFLINE.sentence);
  });

  it('exists for every code of a failed task, except for two', () => {
    // The first load of the pages is at its limit: these two have the general sentence.
    const general = Object.keys(taskErrors).filter((code) => !(code in words.errors.byCode));
    expect(general).toEqual(['SETTING_NOT_APPLIED', 'HELD_AT_DESK']);
    expect(taskSentence('TASK_LOST')).toBe(taskErrors.TASK_LOST.sentence);
  });

  it('is the message of the relay for an unknown code', () => {
    expect(sentenceFor(refusal('NEW_CODE', 'Do this.'))).toBe('Do this.');
    expect(sentenceFor(refusal('NEW_CODE'))).toBe('That didn’t work. Try again.');
    expect(taskSentence('NEW_CODE')).toBe('This didn’t complete. Send your message again.');
  });

  it('includes the time to wait', () => {
    expect(sentenceFor(refusal('RATE_LIMITED', '', 12))).toContain('12 seconds');
  });
});
