/** Questions about generated documents, for the tests of each. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import formatsModule from 'ajv-formats';
import type { JsonObject } from '../src/documents/index.ts';

/** Every `$ref` of a document with the place where it stands. */
export function references(document: unknown, at = '#'): { at: string; ref: string }[] {
  if (typeof document !== 'object' || document === null) return [];
  return Object.entries(document).flatMap(([name, value]) =>
    name === '$ref' && typeof value === 'string' ? [{ at, ref: value }] : references(value, `${at}/${name}`),
  );
}

/** Resolves a local reference; undefined when it leads nowhere. */
export const follow = (document: unknown, ref: string): unknown =>
  ref
    .replace(/^#\//, '')
    .split('/')
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>(
      (value, name) => (typeof value === 'object' && value !== null ? (value as JsonObject)[name] : undefined),
      document,
    );

/** A function that compiles a schema of the document by its place, like `#/components/schemas/Session`. */
export function compiler(document: JsonObject) {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: true });
  (formatsModule as unknown as (instance: Ajv2020) => void)(ajv);
  ajv.addSchema({ ...document, $id: 'https://document.example/' });
  return (ref: string) => {
    const check = ajv.compile({ $ref: `https://document.example/${ref}` });
    return (value: unknown) => (check(value) ? [] : (check.errors ?? []));
  };
}
