import type { KubernetesObject } from '../../k8s/check/index.mjs';

/** The text of each template by its path from k8s/chart. Rejects with RenderError if kubectl is missing. */
export function chartFiles(): Promise<Record<string, string>>;
/** The objects of the base with these components, as kustomize renders them. */
export function renderWith(components: readonly string[]): Promise<KubernetesObject[]>;
