/** Languages by the names that people write after a fence, and by the endings of files. */
const table: Readonly<Record<string, readonly [name: string, ...also: string[]]>> = {
  typescript: ['TypeScript', 'ts', 'tsx', 'mts', 'cts'],
  javascript: ['JavaScript', 'js', 'jsx', 'mjs', 'cjs', 'node'],
  python: ['Python', 'py', 'python3'],
  bash: ['Shell', 'sh', 'shell', 'zsh', 'console', 'shellscript'],
  json: ['JSON', 'jsonc', 'json5', 'jsonl'],
  yaml: ['YAML', 'yml'],
  xml: ['HTML', 'html', 'svg', 'xhtml', 'vue'],
  css: ['CSS', 'scss', 'less'],
  go: ['Go', 'golang'],
  rust: ['Rust', 'rs'],
  java: ['Java'],
  sql: ['SQL', 'postgresql', 'mysql', 'sqlite', 'pgsql'],
  diff: ['Diff', 'patch'],
  markdown: ['Markdown', 'md', 'mdx'],
  ruby: ['Ruby', 'rb'],
  c: ['C', 'h'],
  cpp: ['C++', 'cc', 'cxx', 'hpp', 'c++'],
  csharp: ['C#', 'cs'],
  php: ['PHP'],
  swift: ['Swift'],
  kotlin: ['Kotlin', 'kt', 'kts'],
  dockerfile: ['Dockerfile', 'docker'],
  ini: ['TOML', 'toml', 'conf', 'cfg'],
};
const byName = new Map(
  Object.entries(table).flatMap(([key, [name, ...also]]) => [key, ...also].map((one) => [one, { key, name }] as const)),
);

interface CodeLanguage {
  /** The name for people; an unknown language as written. */
  name: string;
  /** The grammar's key; empty without a grammar. */
  key: string;
}

export function languageOf(info: string): CodeLanguage {
  const word = /^[^\s{,:]{0,40}/.exec(info.trim())?.[0] ?? '';
  return byName.get(word.toLowerCase()) ?? { name: word, key: '' };
}

export const languageOfPath = (path: string): CodeLanguage => {
  const file = path.split(/[\\/]/).at(-1) ?? '';
  return byName.get((/\.(\w+)$/.exec(file)?.[1] ?? file).toLowerCase()) ?? { name: '', key: '' };
};
