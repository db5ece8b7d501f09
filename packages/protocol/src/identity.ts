/**
 * Ids that two programs derive independently from facts that both know: of items that one of them names before the other has them, and of
 * questions. For Node.js only; a browser never derives one.
 */
import { createHash } from 'node:crypto';
import type { Question } from './transcript/index.ts';

const namespace = Buffer.from('5b0b7c3e9a1f4d5c8e2a6f7d1c3b9e40', 'hex');

/** RFC 9562 version 5 over a name, in the namespace of this project. */
function uuidFor(name: string): string {
  const hash = createHash('sha1').update(namespace).update(name).digest().subarray(0, 16);
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x50;
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
  const hex = hash.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** The id of an item for a thing with an id of the agent: the same every time. */
export const foreignUuid = (sessionId: string, id: string): string => uuidFor(`${sessionId}\n${id}`);

/** The USER item of a task: the api answers with it before the daemon has it. */
export const userItemUuid = (taskId: string): string => uuidFor(`task\n${taskId}\nUSER`);

/** The uuid of a task's final message, for a daemon that sends no uuid; the same for every repetition of the event. */
export const endItemUuid = (taskId: string, eventType: string): string => uuidFor(`task\n${taskId}\n${eventType}`);

/**
 * Binds an answer to the question the person read: the first 32 hexadecimal digits of SHA-256 over the JSON of title,
 * subject and options.
 */
export const questionDigest = ({ title, subject, options }: Pick<Question, 'title' | 'subject' | 'options'>): string =>
  createHash('sha256')
    .update(JSON.stringify([title, subject ?? null, options]))
    .digest('hex')
    .slice(0, 32);

/** The question that a WAIT_FOR_USER without `question` makes: the same for a repetition, another one when the task asks something else. */
export const questionUuid = (taskId: string, question: Pick<Question, 'title' | 'subject' | 'options'>): string =>
  uuidFor(`task\n${taskId}\nquestion\n${questionDigest(question)}`);
