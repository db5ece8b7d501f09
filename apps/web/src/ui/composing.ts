/** Keys of an input method, used to type Japanese, Chinese and Korean. */

/**
 * True for a key that belongs to the word being composed: its Enter confirms the word and must not send. Safari closes the
 * composition before that key, and marks it by the key code 229 alone.
 */
export const isComposing = ({ isComposing: composes, keyCode }: KeyboardEvent): boolean => composes || keyCode === 229;
