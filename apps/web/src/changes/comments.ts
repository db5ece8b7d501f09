/** Comments on lines: drafts of this browser, sent as one message. */
import { useCallback, useEffect, useRef, useState } from 'react';
import { words } from '../catalogue.ts';
import { draftOf, keepDraft } from '../conversation/drafts.ts';

export interface Comment {
  path: string;
  side: 'new' | 'old';
  line: number;
  /** The line as it was. */
  quoted: string;
  text: string;
}

const most = 50;
const textCharacters = 4096;
const nameOf = (sessionId: string) => `comments ${sessionId}`;

const isComment = (value: unknown): value is Comment => {
  const { path, side, line, quoted, text } = (value ?? {}) as Record<string, unknown>;
  const areTexts = [path, quoted, text].every((one) => typeof one === 'string');
  return areTexts && typeof line === 'number' && (side === 'new' || side === 'old');
};

function commentsIn(kept: string): Comment[] {
  try {
    const value: unknown = JSON.parse(kept);
    return Array.isArray(value) ? value.filter(isComment) : [];
  } catch {
    return [];
  }
}

export function useComments(sessionId: string) {
  const [comments, setComments] = useState<readonly Comment[]>([]);
  const now = useRef<readonly Comment[]>([]);
  const change = useCallback(
    (next: readonly Comment[]) => {
      now.current = next.slice(0, most);
      setComments(now.current);
      void keepDraft(nameOf(sessionId), next.length === 0 ? '' : JSON.stringify(now.current));
    },
    [sessionId],
  );
  useEffect(() => {
    let isCurrent = true;
    void draftOf(nameOf(sessionId)).then((kept) => {
      if (!isCurrent || now.current.length > 0) return;
      now.current = commentsIn(kept);
      setComments(now.current);
    });
    return () => {
      isCurrent = false;
    };
  }, [sessionId]);
  return {
    comments,
    add: (comment: Comment) => change([...now.current, { ...comment, text: comment.text.slice(0, textCharacters) }]),
    remove: (comment: Comment) => change(now.current.filter((one) => one !== comment)),
    clear: () => change([]),
  };
}

/** The message: every quoted line begins with `> `, so that no line can leave the quote. */
export const messageOf = (comments: readonly Comment[]): string =>
  [
    words.changes.heading,
    ...comments.map(({ path, side, line, quoted, text }) => {
      const place = side === 'new' ? words.changes.lineNew(line) : words.changes.lineOld(line);
      const quote = quoted.split(/\r\n|[\n\r\u2028\u2029]/).slice(0, 6).map((one) => `> ${one}`); // prettier-ignore
      return [`${path}, ${place}:`, ...quote, text.trim()].join('\n');
    }),
  ].join('\n\n');

/** Appends text to the draft of a session. */
export async function fillComposer(sessionId: string, text: string): Promise<void> {
  const typed = await draftOf(sessionId);
  await keepDraft(sessionId, typed === '' ? text : `${typed.trimEnd()}\n${text}`);
}
