/** Prisma's models for a library that brings its own queries, the sign-in: the caller decides on each of them. */
import type { WithModels } from './db.ts';

interface ModelCall {
  /** `OauthConsent`, for instance. */
  readonly model: string;
  /** `findFirst`, for instance. */
  readonly operation: string;
  readonly args: unknown;
}

/** A client whose every call of a model goes through `around`; `run` sends it, with these arguments or with others. */
export function modelsThrough(
  db: WithModels,
  around: (call: ModelCall, run: (args: unknown) => Promise<unknown>) => Promise<unknown>,
): object {
  return db.models.$extends({
    query: {
      $allModels: {
        $allOperations: ({ args, query, ...call }) => around({ ...call, args }, (given) => query(given as typeof args)),
      },
    },
  });
}

/** Why a model call was refused: missing row, existing row, invalid arguments. Undefined for other errors. */
export function modelRefusal(error: unknown): 'missing' | 'taken' | 'invalid' | undefined {
  const { code, name } = error as { code?: unknown; name?: unknown };
  if (code === 'P2025') return 'missing';
  if (code === 'P2002') return 'taken';
  return name === 'PrismaClientValidationError' ? 'invalid' : undefined;
}
