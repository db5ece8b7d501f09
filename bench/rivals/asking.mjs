// Sends requests to daemons from within an instance, several at a time, and returns the durations: `POST
// /self?count=…&inFlight=…&users=…`.
// Excludes client and HTTP: measures only instances, Redis and daemons.
const quantile = (sorted, q) => sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))];

/** `ask(user, n)` resolves with the answer. Users are numbered; `first` and `users` select them. */
export async function askMany(ask, { count, inFlight, first, users }) {
  const took = [];
  let next = 0;
  const startedAt = performance.now();
  const lane = async () => {
    while (next < count) {
      const n = next;
      next += 1;
      const at = performance.now();
      await ask(first + (n % users), n);
      took.push(performance.now() - at);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  const tookMs = performance.now() - startedAt;
  took.sort((a, b) => a - b);
  return { count, tookMs, p50: quantile(took, 0.5), p99: quantile(took, 0.99) };
}

/** Answers `POST /self`; false when the request is another one. */
export function serveAsking(request, response, ask) {
  const url = new URL(request.url, 'http://bench');
  if (url.pathname !== '/self') return false;
  const number = (name) => Number(url.searchParams.get(name));
  const how = { count: number('count'), inFlight: number('inFlight'), first: number('first'), users: number('users') };
  askMany(ask, how).then(
    (result) => response.end(JSON.stringify(result)),
    (error) => response.writeHead(500).end(String(error?.stack ?? error)),
  );
  return true;
}
