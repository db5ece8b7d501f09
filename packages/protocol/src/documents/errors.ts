/** The tables of errors → `docs/errors.md`. Pure. */
import { describedCloseCodes } from './close-meanings.ts';
import { type ErrorCode, errorCatalogue, meaningOf, pollErrors, taskErrors } from '../errors.ts';
import { code, generatedNote, jsonBlock, table } from './markdown.ts';
import { registry } from '../registry.ts';

/** The close codes as a table, for this page and for the protocol's. */
export const closeCodeTable = (): string =>
  table(
    ['Code', 'Reason', 'Reconnect?', 'Meaning'],
    describedCloseCodes.map(({ code: number, reason, comeBack, meaning }) => [
      code(String(number)),
      reason,
      comeBack ? 'yes' : 'no',
      meaning,
    ]),
  );

/** The page as Markdown. */
export function errorsMarkdown(): string {
  return [
    generatedNote,
    '# Errors',
    'Clients branch on `code`; `error` is text for people and can change. New codes can be added; existing codes never change.',
    '## REST errors',
    'Every REST error, and every refused WebSocket upgrade, has this body. 429 and 503 carry `Retry-After` in seconds; every ' +
      'response carries `X-Request-Id`. Resources of another user return 404, never 403.',
    jsonBlock(registry['rest.ErrorResponse']?.example),
    table(
      ['Status', 'Code', 'Meaning'],
      (Object.keys(errorCatalogue) as ErrorCode[]).map((name) => [
        String(errorCatalogue[name].status),
        code(name),
        meaningOf(errorCatalogue[name]),
      ]),
    ),
    '## Polling for a device',
    '`POST /api/devices/token` answers 400 with `error` one of these strings (RFC 8628) and `code` the same in capitals.',
    table(
      ['Error', 'Meaning'],
      Object.entries(pollErrors).map(([name, meaning]) => [code(name), meaning]),
    ),
    '## Task errors',
    'These codes appear in `error.code` of a task and in `lastTask.code` of a session.',
    table(
      ['Code', 'Meaning'],
      Object.entries(taskErrors).map(([name, row]) => [code(name), meaningOf(row)]),
    ),
    '## Close codes',
    'These codes explain why the relay closed a WebSocket. If the column “Reconnect?” is “no”, do not reconnect with the same credential.',
    closeCodeTable(),
  ]
    .join('\n\n')
    .concat('\n');
}
