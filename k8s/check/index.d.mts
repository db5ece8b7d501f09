/** Types of the checks for the tests, which are TypeScript; the checks themselves run without a compiler. */

/** Any rendered object; tests look into it as they please. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type KubernetesObject = Record<string, any>;
export interface Kustomization {
  folder: string;
  content: KubernetesObject;
}

export class RenderError extends Error {}
export const external: string[];
export const overlays: string[];
export const alone: string[];
export function parseObjects(text: string): KubernetesObject[];
export function render(folder: string, options?: { kubectl?: string }): Promise<KubernetesObject[]>;
export const chart: string;
export function helm(...words: string[]): Promise<string>;
export function chartObjects(values: object, options?: { namespace?: string }): Promise<KubernetesObject[]>;
export function kustomizations(folder: string): Kustomization[];
export function fieldProblems(objects: KubernetesObject[]): string[];
export function policyProblems(objects: KubernetesObject[]): string[];
export function objectProblems(objects: KubernetesObject[]): string[];
export function folderProblems(folder: string): Promise<{ objects: KubernetesObject[]; problems: string[] }>;
export function placeholders(objects: KubernetesObject[]): string[];
export function find(objects: KubernetesObject[], kind: string, name: string): KubernetesObject | undefined;
export function ofKind(objects: KubernetesObject[], ...kinds: string[]): KubernetesObject[];
export function containersOf(object: KubernetesObject): KubernetesObject[];
export function environmentOf(
  objects: KubernetesObject[],
  container: KubernetesObject,
  given?: Record<string, string>,
): Record<string, string>;
export type Exported = Map<string, Set<string>>;
export function readQuery(
  query: string,
  declared: { has(name: string): boolean },
): { metrics: { name: string; labels: string[] }[]; grouped: string[] };
export function readExposition(text: string): Exported;
export function queryProblems(query: string, exported: Exported): string[];
export interface Series {
  labels: Record<string, string>;
  points: { atMs: number; value: number | undefined }[];
}
export function durationMs(text: string): number;
export function readSeries(input: { series: string; values: string }, intervalMs: number): Series;
export function firing(
  rule: { expr: string; for?: string; labels?: Record<string, string> },
  series: Series[],
  atMs: number,
  everyMs: number,
): Record<string, string>[];
