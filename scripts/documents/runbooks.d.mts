/** Problems of the page of one alert. */
export function pageProblems(text: string): string[];

/** Problems of docs/situations.md. */
export function situationProblems(text: string): string[];

/** Lines of the shell blocks of a page. */
export function commandLines(text: string): string[];

/** Command lines that need a program besides kubectl and curl, or in a pod a program besides node and the relay. */
export function foreignCommands(lines: readonly string[]): string[];

/** Commands of relay-admin in a text. */
export function adminCommands(text: string): string[];
