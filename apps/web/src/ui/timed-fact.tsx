/** A fact of a card: an event, and how long ago it happened. */
import { Sentence } from './sentence.tsx';
import { Ago } from './time.tsx';

/** `text`: a sentence with a place for the time. */
export const TimedFact = ({ text, at }: { text: string; at: string }) => (
  <span>
    <Sentence text={text} time={<Ago at={at} />} />
  </span>
);
