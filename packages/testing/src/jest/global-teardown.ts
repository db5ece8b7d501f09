/** Runs once after all tests, in the process of Jest: a run of one file has its databases there, and an open one keeps the process alive. */
import { closeIdleDatabases } from '../template.ts';

export default closeIdleDatabases;
