/** Colours of code: a chunk of its own, and one more for each language. Nothing of this is loaded before a fence has closed. */
import type { LanguageFn } from 'highlight.js';
import { createLowlight } from 'lowlight';

/** A stretch of text and the class of its colour, which can be empty. */
export type Stretch = readonly [text: string, kind: string];

const lowlight = createLowlight();
const grammars: Readonly<Record<string, () => Promise<{ default: LanguageFn }>>> = {
  typescript: () => import('highlight.js/lib/languages/typescript'),
  javascript: () => import('highlight.js/lib/languages/javascript'),
  python: () => import('highlight.js/lib/languages/python'),
  bash: () => import('highlight.js/lib/languages/bash'),
  json: () => import('highlight.js/lib/languages/json'),
  yaml: () => import('highlight.js/lib/languages/yaml'),
  xml: () => import('highlight.js/lib/languages/xml'),
  css: () => import('highlight.js/lib/languages/css'),
  go: () => import('highlight.js/lib/languages/go'),
  rust: () => import('highlight.js/lib/languages/rust'),
  java: () => import('highlight.js/lib/languages/java'),
  sql: () => import('highlight.js/lib/languages/sql'),
  diff: () => import('highlight.js/lib/languages/diff'),
  markdown: () => import('highlight.js/lib/languages/markdown'),
  ruby: () => import('highlight.js/lib/languages/ruby'),
  c: () => import('highlight.js/lib/languages/c'),
  cpp: () => import('highlight.js/lib/languages/cpp'),
  csharp: () => import('highlight.js/lib/languages/csharp'),
  php: () => import('highlight.js/lib/languages/php'),
  swift: () => import('highlight.js/lib/languages/swift'),
  kotlin: () => import('highlight.js/lib/languages/kotlin'),
  dockerfile: () => import('highlight.js/lib/languages/dockerfile'),
  ini: () => import('highlight.js/lib/languages/ini'),
};

/** Five colours for all tokens of a grammar. */
const kinds: Readonly<Record<string, string>> = {
  keyword: 'k1',
  built_in: 'k3',
  literal: 'k1',
  'selector-tag': 'k1',
  tag: 'k1',
  meta: 'k1',
  string: 'k2',
  regexp: 'k2',
  addition: 'k2',
  'template-variable': 'k2',
  title: 'k3',
  name: 'k3',
  type: 'k3',
  section: 'k3',
  function_: 'k3',
  class_: 'k3',
  'selector-class': 'k3',
  'selector-id': 'k3',
  link: 'k3',
  comment: 'k4',
  quote: 'k4',
  number: 'k5',
  symbol: 'k5',
  bullet: 'k5',
  attr: 'k5',
  attribute: 'k5',
  variable: '',
  deletion: 'k1',
};

interface Node {
  type: string;
  value?: string;
  properties?: { className?: readonly string[] };
  children?: readonly Node[];
}

function flat(nodes: readonly Node[], kind: string, into: Stretch[]): Stretch[] {
  for (const node of nodes) {
    if (node.type === 'text') {
      into.push([node.value ?? '', kind]);
      continue;
    }
    const own = (node.properties?.className ?? [])
      .map((name) => kinds[name.replace(/^hljs-/, '')])
      .find((found) => found !== undefined);
    flat(node.children ?? [], own ?? kind, into);
  }
  return into;
}

/** Undefined for a language without a grammar. */
export async function highlight(text: string, language: string): Promise<readonly Stretch[] | undefined> {
  const load = Object.hasOwn(grammars, language) ? grammars[language] : undefined;
  if (!load) return undefined;
  if (!lowlight.registered(language)) lowlight.register(language, (await load()).default);
  return flat(lowlight.highlight(language, text).children, '', []);
}
