/** HTTP/2 to one service of the operator: one connection, made when it is needed, and made again when it failed. */
import { type ClientHttp2Session, type OutgoingHttpHeaders, connect, constants } from 'node:http2';
import { type PostAnswer, answerBytes, answerMs, readRetryAfter } from './post.ts';

interface Http2Poster {
  /** Rejects if no answer arrives in time. */
  post(path: string, headers: OutgoingHttpHeaders, body: string): Promise<PostAnswer>;
  close(): void;
}

export function createHttp2Poster(origin: string, now: () => number, withinMs = answerMs): Http2Poster {
  let current: ClientHttp2Session | undefined;
  const session = () => {
    if (current !== undefined && !current.closed && !current.destroyed) return current;
    const made = connect(origin);
    const leave = () => {
      if (current === made) current = undefined;
    };
    // Requests that are under way fail by themselves.
    made.on('error', leave);
    made.once('goaway', leave);
    made.once('close', leave);
    made.unref();
    current = made;
    return made;
  };
  return {
    post: (path, headers, body) =>
      new Promise<PostAnswer>((resolve, reject) => {
        const on = session();
        const sent = on.request({ [constants.HTTP2_HEADER_METHOD]: 'POST', ':path': path, ...headers });
        const clock = setTimeout(() => {
          // A stopped process reads pending data first when it resumes: an answer that has arrived counts.
          setImmediate(giveUp);
        }, withinMs);
        const giveUp = () => {
          sent.close(constants.NGHTTP2_CANCEL);
          if (status !== 0) return;
          // A request that waits for its connection is not closed by that, nor is the connection.
          reject(new Error(`no answer in ${withinMs} ms`));
          // A connection that leads nowhere looks the same as a service that is slow.
          if (current === on) current = undefined;
          if (on.connecting) on.destroy();
          else on.close();
        };
        let status = 0;
        let retryAfterMs: number | undefined;
        let answer = '';
        sent.setEncoding('utf8');
        sent.once('response', (given) => {
          status = Number(given[':status']);
          retryAfterMs = readRetryAfter(given['retry-after'], now());
        });
        sent.on('data', (chunk: string) => {
          answer += chunk;
          if (answer.length > answerBytes) sent.close(constants.NGHTTP2_CANCEL);
        });
        sent.on('error', (error: Error) => {
          clearTimeout(clock);
          reject(error);
        });
        sent.once('close', () => {
          clearTimeout(clock);
          if (status === 0) reject(new Error('there was no answer'));
          else resolve({ status, body: answer, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });
        });
        sent.end(body);
      }),
    close: () => current?.destroy(),
  };
}
