/** English texts: files of a message, and files from an agent. */
const kinds: Readonly<Record<string, string>> = {
  ...{ xlsx: 'Excel', xls: 'Excel', xlsm: 'Excel', docx: 'Word', doc: 'Word', docm: 'Word', pptx: 'PowerPoint' },
  ...{
    pdf: 'PDF',
    csv: 'Table',
    tsv: 'Table',
    txt: 'Text',
    md: 'Text',
    log: 'Text',
    html: 'Web page',
    htm: 'Web page',
  },
  ...{ zip: 'Archive', gz: 'Archive', tar: 'Archive', png: 'Image', jpg: 'Image', jpeg: 'Image', svg: 'Image' },
  ...{ mp3: 'Audio', wav: 'Audio', mp4: 'Video', mov: 'Video' },
};

export const words = {
  files: {
    add: 'Add photos or files',
    photo: 'Photo or image',
    camera: 'Take a photo',
    file: 'File…',
    ask: 'Ask for a file',
    sentence: 'Put the file into .relay/out.',
    limit: 'Files up to 25 MB. Relay doesn’t check files.',
    attached: 'Attached files',
    sent: 'Files',
    remove: (name: string) => `Remove ${name}`,
    waits: 'waits',
    waitsFor: (machine: string) => `waits for ${machine}`,
    keeps: 'This device keeps the file until then.',
    percent: (percent: number) => `${percent}%`,
    sending: (count: number, percent: number) =>
      count === 1 ? `Sending the file… ${percent}%` : `Sending ${count} files… ${percent}%`,
    tooLarge: (name: string, size: string) => `${name} is ${size}. Files can be 25 MB.`,
    tooMany: '10 files at most.',
    tooMuch: 'The files of a message can be 100 MB together.',
    kind: (ending: string) => kinds[ending] ?? (ending === '' ? 'File' : `${ending.toUpperCase()} file`),
    from: (agent: string, machine: string) => `from ${agent === '' ? 'the agent' : agent} on ${machine}`,
    shared: 'Several sessions ran in this folder, so the file can be from another one.',
    share: (name: string) => `Share ${name}`,
    download: 'Download',
    canRun: 'Can run code. Relay never opens it; save it only if you expected it.',
    gone: (machine: string | undefined, name: string) => `${machine ?? 'The machine'} no longer has ${name}.`,
  },
};
