/** Shows a resource: the wait, the error, or the value. */
import type { ReactNode } from 'react';
import { Problem } from './notice.tsx';
import type { Resource } from './resource.ts';
import { Waiting } from './waiting.tsx';

export function Loaded<T>({
  of: resource,
  what,
  children,
}: {
  of: Resource<T>;
  what: string;
  children: (value: T) => ReactNode;
}) {
  if (resource.kind === 'loading') return <Waiting what={what} sinceMs={resource.sinceMs} />;
  if (resource.kind === 'failed') return <Problem refusal={resource.refusal} onRetry={resource.reload} />;
  return <>{children(resource.value)}</>;
}
