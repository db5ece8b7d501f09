/** Lets the browser save a text as a file. */
export const saveFile = (text: string, name: string, type: string): void => save(new Blob([text], { type }), name);

/** The same for bytes, of a type that no browser opens. */
export const saveBytes = (parts: BlobPart[], name: string): void =>
  save(new Blob(parts, { type: 'application/octet-stream' }), name);

function save(content: Blob, name: string): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The browser reads it after this turn.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
