/**
 * Promise: a handler whose answers or reads differ from the table of routes does not compile. `npm run typecheck` tests
 * it: an expected error that does not occur is an error.
 */
import type { Task } from '@relay/protocol';
import type { Handlers } from '../../src/http/pipeline.ts';

declare const task: Task;
type Handler<Name extends keyof Handlers> = Handlers<Name>[Name];

export const asTheTable: Handler<'readTask'> = () => ({ status: 200, body: task });
// @ts-expect-error -- another status
export const status: Handler<'readTask'> = () => ({ status: 418, body: task });
// @ts-expect-error -- another body
export const body: Handler<'readTask'> = () => ({ status: 200, body: { nonsense: 1 } });
// @ts-expect-error -- the body is missing
export const bodiless: Handler<'readTask'> = () => ({ status: 200 });
// @ts-expect-error -- a body that the route never sends
export const tooMuch: Handler<'deleteSession'> = () => ({ status: 204, body: task });
// @ts-expect-error -- the refusal of another route
export const refusal: Handler<'readTask'> = () => ({ status: 400, body: task });
// @ts-expect-error -- reads a field that the body does not have
export const field: Handler<'updateDevice'> = (call) => Promise.reject(new Error(String(call.body.never)));
// @ts-expect-error -- reads a parameter that the path does not have
export const parameter: Handler<'readTask'> = (call) => Promise.reject(new Error(String(call.params.userCode)));
// @ts-expect-error -- reads a query of a route without one
export const query: Handler<'readTask'> = (call) => Promise.reject(new Error(String(call.query.limit)));
// @ts-expect-error -- needs a user where the route allows none
export const user: Handler<'requestCode'> = (call) => Promise.reject(new Error(String(call.principal.userId)));
