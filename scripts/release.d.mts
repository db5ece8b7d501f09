/** The new text of each file of a release by its path. Rejects with an Error that names the file. */
export function releaseFiles(folder: string, release: { to: string; date: string }): Promise<Map<string, string>>;
