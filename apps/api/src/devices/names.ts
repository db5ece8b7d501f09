/** Names that machines, programs and people give, and that people decide by. */
import { RelayError } from '@relay/protocol';

/**
 * Control characters, line and paragraph separators, characters that change the direction of a text, characters without a shape of their own,
 * wide gaps, and marks without a letter. Routes replace or refuse a blank name.
 */
const deceptive =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffc\u{13430}-\u{1343f}\u{1d159}]|\p{Zs}{4}|^\p{Z}*\p{M}[\p{M}\p{Z}]*$/u;

/** The characters among them that scripts and emoji need: joiners between letters of scripts that join, or between pictures, and the choice between two pictures. */
const needed =
  /(?<=[\p{scx=Arab}\p{scx=Beng}\p{scx=Deva}\p{scx=Gujr}\p{scx=Guru}\p{scx=Knda}\p{scx=Mlym}\p{scx=Mong}\p{scx=Orya}\p{scx=Sinh}\p{scx=Syrc}\p{scx=Taml}\p{scx=Telu}])[\u200c\u200d](?=\p{L})|(?<=\p{Extended_Pictographic}\ufe0f?\p{Emoji_Modifier}?)\u200d(?=\p{Extended_Pictographic})|(?<=[\p{Extended_Pictographic}\p{Emoji}])\ufe0f/gu;

/** Whether a page shows the name as it is. An empty name is shown as such. */
export const isShowable = (name: string): boolean => name === '' || !deceptive.test(name.replace(needed, ''));

/** @throws RelayError INVALID_REQUEST when the text of the field is blank */
export function requireText(text: string | null | undefined, field: string): void {
  if (text?.trim() === '') throw new RelayError('INVALID_REQUEST', `"${field}" may not be empty.`);
}

/** @throws RelayError INVALID_REQUEST when a page could show the name as something else */
export function requireShowable(name: string | undefined): void {
  if (name === undefined || isShowable(name)) return;
  throw new RelayError(
    'INVALID_REQUEST',
    'A name must not contain control characters, invisible characters or characters that change the direction of text, and no wide gaps.',
  );
}
