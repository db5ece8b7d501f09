/** The route of contents that items name. */
import type { contentRoutes } from '@relay/protocol';
import type { Operations } from '../deps.ts';
import type { Handlers } from '../http/pipeline.ts';
import { downloadContent, readContent } from '../sessions/read-content.ts';

export const contentHandlers = (deps: Operations): Handlers<keyof typeof contentRoutes> => ({
  readContent: async ({
    principal,
    params: { id: sessionId, uuid, name },
    query: { download, ...query },
    response,
  }) => {
    if (download !== undefined) {
      const { headers, bytes } = await downloadContent(deps, principal.userId, { sessionId, uuid, name });
      for (const [header, value] of Object.entries(headers)) response.setHeader(header, value);
      return { status: 200, text: bytes };
    }
    return {
      status: 200,
      body: await readContent(deps, principal.userId, { sessionId, uuid, name, ...query }),
    };
  },
});
