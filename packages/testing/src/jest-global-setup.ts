/** Runs once before all tests, in the process of Jest. */
import { prepareTestDatabases } from './template.ts';

export default prepareTestDatabases;
