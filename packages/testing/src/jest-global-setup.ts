/** Runs once before all tests, in the process of Jest. */
import { prepareTestBus } from './bus.ts';
import { prepareTestDatabases } from './template.ts';

export default async function prepare(): Promise<void> {
  await prepareTestDatabases();
  await prepareTestBus();
}
