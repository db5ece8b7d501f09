/** Runs one check on every member and returns the failures, each with the name of its member and the reason. */
export function violations<T>(
  members: Iterable<readonly [name: string, member: T]>,
  check: (member: T, name: string) => void,
): string[] {
  const all = [...members];
  if (all.length === 0) throw new Error('There is no member to check.');
  return all.flatMap(([name, member]) => {
    try {
      check(member, name);
      return [];
    } catch (error) {
      return [`${name}: ${(error as Error).message}`];
    }
  });
}
