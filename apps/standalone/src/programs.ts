/** The programs of this room: one bundle holds both, because they share nearly all of their modules. */
export { administer } from './administer.ts';
export { serve } from './program.ts';
