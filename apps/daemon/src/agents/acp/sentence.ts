/** The text of an error for people: the sentence inside the JSON that an agent passes on, and the last lines of its output. Pure. */
import { stripVTControlCharacters } from 'node:util';
import { keepHead, keepTail, listOf, recordOf, wordsOf } from '@relay/daemon-kit';

const maxBytes = 16 * 1024;
const complaintBytes = 2 * 1024;
const complaintLines = 10;
const maxDepth = 5;

/** `API Error: 404 {"error":{"message":"no such model"}}` becomes `API Error: 404 no such model`. Text without such JSON is unchanged. */
export function sentenceIn(text: string, depth = 0): string {
  const head = keepHead(text, maxBytes);
  const from = head.search(/\[\s*\{|\{/);
  const to = Math.max(head.lastIndexOf('}'), head.lastIndexOf(']'));
  if (from < 0 || to < from || depth === maxDepth) return head;
  let value: unknown;
  try {
    value = JSON.parse(head.slice(from, to + 1));
  } catch {
    return head;
  }
  const inside = messageIn(Array.isArray(value) ? listOf(value)[0] : value);
  if (inside === '') return head;
  return [head.slice(0, from).trim(), sentenceIn(inside, depth + 1)].filter((part) => part !== '').join(' ');
}

function messageIn(value: unknown): string {
  const { error, message, detail, details } = recordOf(value);
  const nested = recordOf(error);
  return [nested.message, message, error, nested.details, detail, details].map(wordsOf).find(Boolean) ?? '';
}

/** Returns the last lines a program printed, without terminal colours. */
export function lastLines(printed: string): string {
  const lines = stripVTControlCharacters(printed)
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '');
  return keepTail(lines.slice(-complaintLines).join('\n'), complaintBytes);
}
