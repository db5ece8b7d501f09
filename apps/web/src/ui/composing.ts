/** Keys of an input method, as Japanese, Chinese and Korean are written with. */

/** True for a key of the word that is being composed: the Enter that takes it over sends nothing. Safari ends the composition before this key, and gives it only the old code. */
export const isComposing = ({ isComposing: composes, keyCode }: KeyboardEvent): boolean => composes || keyCode === 229;
