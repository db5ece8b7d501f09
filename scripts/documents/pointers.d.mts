/** Links to missing files of this repository. `document` is the path of the text from the top. */
export function brokenLinks(text: string, document: string): string[];

/** Names after `npm run` that are missing in package.json. */
export function unknownScripts(text: string): string[];

/** Missing paths from the top of the repository, in backticks or run with node. */
export function missingPaths(text: string): string[];

/** Reads of logs by a selector without `--tail`. */
export function shortLogs(text: string): string[];

/** Cited rules, chapters and ADRs that do not exist. */
export function unknownCitations(text: string): string[];

/** Numbers of rules that appear twice, or under the heading of another chapter. */
export function misplacedRules(text: string): string[];

/** A section of CONTRIBUTING.md that walks through the files of an example. */
export function walk(text: string, heading: string): { examples: string[]; files: string[] };

/** Files of a walk that are missing, or do not mention its examples. */
export function strayFiles(walk: { examples: string[]; files: string[] }): string[];
