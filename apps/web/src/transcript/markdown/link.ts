/** Accepts addresses of the web and of mail. Everything else stays text. */
export function safeAddress(href: unknown): string | undefined {
  if (typeof href !== 'string' || href.length > 4096) return undefined;
  try {
    const url = new URL(href);
    return ['http:', 'https:', 'mailto:'].includes(url.protocol) ? url.href : undefined;
  } catch {
    return undefined;
  }
}

/** True for a text that looks like an address and links to another place. */
export function isOtherAddress(text: string, address: string): boolean {
  const [, host] = /^(?:https?:\/\/|(?=www\.))([^/?#\s]+)\S*$/i.exec(text.trim()) ?? [];
  return host !== undefined && host.toLowerCase() !== new URL(address).host;
}
