/** Names that machines and programs give themselves, and that people decide by. */
import { RelayError } from '@relay/protocol';

/** Control characters, line and paragraph separators, and what turns the direction of a text or hides in it. */
const deceptive = /[\p{Cc}\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/u;

/** @throws RelayError INVALID_REQUEST when a page could show the name as something else */
export function requireShowable(name: string | undefined): void {
  if (name === undefined || !deceptive.test(name)) return;
  throw new RelayError(
    'INVALID_REQUEST',
    'A name must not contain control characters or characters that change the direction of text.',
  );
}
