import type ts from 'typescript';

export function parse(file: string, text: string): ts.SourceFile;

/** Texts in a source that the catalogue lacks. */
export function strays(file: string, source: ts.SourceFile): string[];

/** Texts that a module reads while it loads. */
export function early(file: string, source: ts.SourceFile): string[];

/** Keys that one language lacks, or has with other parameters or in another order. */
export function shapeProblems(english: object, other: object): string[];

/** Keys of a part that no source reads. `code` is the text of all sources. */
export function unread(texts: object, code: string): string[];
