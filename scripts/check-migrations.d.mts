/** The problems of one migration, as sentences. */
export function migrationProblems(sql: string): string[];
