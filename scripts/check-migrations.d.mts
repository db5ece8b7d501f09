/** What is wrong with one migration, as sentences. */
export function migrationProblems(sql: string): string[];
