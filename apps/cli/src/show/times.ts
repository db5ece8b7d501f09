/** Times for people: relative in tables, clock times in streams. */

/** Formats a time like `3 min ago`; returns other text unchanged. */
export function ago(iso: string, now = Date.now()): string {
  const seconds = Math.round((now - Date.parse(iso)) / 1000);
  if (!Number.isFinite(seconds)) return iso;
  if (seconds < 45) return 'just now';
  if (seconds < 90 * 60) return `${Math.max(1, Math.round(seconds / 60))} min ago`;
  if (seconds < 36 * 3600) return `${Math.round(seconds / 3600)} h ago`;
  if (seconds < 60 * 86_400) return `${Math.round(seconds / 86_400)} days ago`;
  return iso.slice(0, 10);
}

/** Formats the local time, `14:03:09`, with the date if it is another day. */
export function clockTime(iso: string, now = new Date()): string {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return iso;
  const two = (number: number) => String(number).padStart(2, '0');
  const hour = [time.getHours(), time.getMinutes(), time.getSeconds()].map(two).join(':');
  if (time.toDateString() === now.toDateString()) return hour;
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())} ${hour}`;
}
