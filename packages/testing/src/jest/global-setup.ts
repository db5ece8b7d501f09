/** Runs once before all tests, in the process of Jest. */
import { prepareTestBus } from '../bus.ts';
import { installCommand, missingPrograms } from '../needs.ts';
import { prepareTestDatabases } from '../template.ts';

/** Lists missing programs before the first test. @throws Error with TEST_PROGRAMS=required, if a program is missing */
function checkPrograms(): void {
  if (process.env.TEST_PROGRAMS === 'unused') return; // looking takes two seconds
  const missing = missingPrograms();
  if (missing.length === 0) return;
  const how = `On Debian 12 or newer, this installs them: ${installCommand}`;
  if (process.env.TEST_PROGRAMS === 'required')
    throw new Error(`Programs are missing that tests need: ${missing.join(', ')}. ${how}`);
  process.stderr.write(`Not installed, so their tests are skipped: ${missing.join(', ')}.\n${how}\n\n`);
}

export default async function prepare(): Promise<void> {
  checkPrograms();
  await prepareTestDatabases();
  await prepareTestBus();
}
