/** A message as words and code: nothing else of Markdown is understood. */
export interface Part {
  isCode: boolean;
  text: string;
}

/** Splits at lines that begin with three backticks. A fence that never closes goes to the end. */
export function partsOf(content: string): Part[] {
  const parts: Part[] = [];
  let isCode = false;
  let lines: string[] = [];
  const finish = () => {
    const text = lines.join('\n');
    if (text.trim() !== '') parts.push({ isCode, text: isCode ? text : text.replace(/^\n+|\n+$/g, '') });
    lines = [];
  };
  for (const line of content.split('\n')) {
    if (!/^\s{0,3}```/.test(line)) {
      lines.push(line);
      continue;
    }
    finish();
    isCode = !isCode;
  }
  finish();
  return parts;
}
