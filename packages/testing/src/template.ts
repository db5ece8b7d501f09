import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTemplate, type Database, openDatabase } from '@relay/database';

export async function openTestDatabase(): Promise<Database> {
  const file = join(tmpdir(), 'relay-interim-template.tgz');
  if (!existsSync(file)) writeFileSync(file, await createTemplate());
  return openDatabase({ template: readFileSync(file) });
}
