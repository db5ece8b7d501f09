/** `npm start`: the whole relay in one process. */
import { loadPrograms } from './bundle.ts';

loadPrograms().serve();
