/**
 * The column `images` of a task holds the attachments of its message: a JSON array of ids of files, each behind `file:`, and then of images as data
 * URLs. The files themselves are at the daemon.
 */
import { fileLimits } from '@relay/protocol';
import { type Sql, sql } from './sql.ts';

const fileMark = 'file:';
/** One id in the array, with its quotation marks and a comma. */
const idCharacters = 34;

/** The text of the column; undefined without images and files. `images`: a JSON array. */
export function attachedText(images: string | undefined, files: readonly string[] = []): string | undefined {
  if (files.length === 0) return images;
  const urls = images === undefined ? [] : (JSON.parse(images) as string[]);
  return JSON.stringify([...files.map((id) => `${fileMark}${id}`), ...urls]);
}

export function attachedIn(text: string): { images?: string[]; files?: string[] } {
  const all = JSON.parse(text) as string[];
  const images = all.filter((one) => !one.startsWith(fileMark));
  const files = all.filter((one) => one.startsWith(fileMark)).map((one) => one.slice(fileMark.length));
  return { ...(images.length === 0 ? {} : { images }), ...(files.length === 0 ? {} : { files }) };
}

const head = sql`left(t.images, ${fileLimits.files * idCharacters + 1}::int)`;

/** SQL: the number of files of the task `t`. Reads no image. */
export const filesOfTask: Sql = sql`(length(${head}) - length(replace(${head}, '"file:', ''))) / 6`;

/** SQL: whether the task `t` has images. */
export const hasImages: Sql = sql`COALESCE(octet_length(t.images) > ${idCharacters}::int * ${filesOfTask} + 1, false)`;
