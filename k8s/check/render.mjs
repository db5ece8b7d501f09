// Folders → objects: renders a kustomization with kubectl and parses its output. Applies no policy.
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { parse, parseAllDocuments } from 'yaml';

const run = promisify(execFile);

/** A render that did not work; the message is for people. */
export class RenderError extends Error {
  name = 'RenderError';
}

/** Text with one or more YAML documents → objects. Duplicate keys and bad syntax throw. */
export function parseObjects(text) {
  return parseAllDocuments(text)
    .map((document) => {
      if (document.errors.length > 0) throw new RenderError(document.errors[0].message);
      return document.toJS();
    })
    .filter((object) => object !== null);
}

/**
 * The objects that `kubectl apply -k folder` would send.
 * @throws RenderError when kubectl is missing, or refuses; a missing kubectl is a failure, never a skip
 */
export async function render(folder, { kubectl = process.env.KUBECTL ?? 'kubectl' } = {}) {
  try {
    const { stdout } = await run(kubectl, ['kustomize', folder], { maxBuffer: 64 * 1024 * 1024 });
    return parseObjects(stdout);
  } catch (error) {
    if (error instanceof RenderError) throw error;
    if (error.code === 'ENOENT')
      throw new RenderError(
        `${kubectl} is not installed. The manifests are rendered with "kubectl kustomize" (kubectl 1.27 or newer, no ` +
          'cluster needed): https://kubernetes.io/docs/tasks/tools/. Another place: set KUBECTL to its path.',
      );
    throw new RenderError(`${folder} does not render: ${String(error.stderr || error.message).trim()}`);
  }
}

/** Every kustomization that `folder` is made of, itself first: `{folder, content}`. */
export function kustomizations(folder) {
  const file = join(folder, 'kustomization.yaml');
  if (!existsSync(file)) return [];
  const content = parse(readFileSync(file, 'utf8'));
  const parts = [...(content.resources ?? []), ...(content.components ?? [])];
  return [{ folder, content }, ...parts.flatMap((part) => kustomizations(resolve(folder, part)))];
}
