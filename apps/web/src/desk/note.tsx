/** The label of a message that the person wrote in a terminal of the machine. */
import { words } from '../catalogue.ts';
import { Monitor } from './icons.tsx';

export const DeskNote = () => (
  <span>
    <Monitor className="i" aria-hidden /> {words.desk.typed}
  </span>
);
