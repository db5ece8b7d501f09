/** Addresses that a text may lead to: of the web, and of mail. Everything else stays text. */
export function safeAddress(href: unknown): string | undefined {
  if (typeof href !== 'string' || href.length > 4096) return undefined;
  try {
    const url = new URL(href);
    return ['http:', 'https:', 'mailto:'].includes(url.protocol) ? url.href : undefined;
  } catch {
    return undefined;
  }
}
