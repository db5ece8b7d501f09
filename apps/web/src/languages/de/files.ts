/** German texts: files of a message, and files from an agent. */
import type { words as english } from '../en/files.ts';

const kinds: Readonly<Record<string, string>> = {
  ...{ xlsx: 'Excel', xls: 'Excel', xlsm: 'Excel', docx: 'Word', doc: 'Word', docm: 'Word', pptx: 'PowerPoint' },
  ...{
    pdf: 'PDF',
    csv: 'Tabelle',
    tsv: 'Tabelle',
    txt: 'Text',
    md: 'Text',
    log: 'Text',
    html: 'Webseite',
    htm: 'Webseite',
  },
  ...{ zip: 'Archiv', gz: 'Archiv', tar: 'Archiv', png: 'Bild', jpg: 'Bild', jpeg: 'Bild', svg: 'Bild' },
  ...{ mp3: 'Ton', wav: 'Ton', mp4: 'Video', mov: 'Video' },
};

export const words: typeof english = {
  files: {
    add: 'Fotos oder Dateien hinzufügen',
    photo: 'Foto oder Bild',
    camera: 'Foto aufnehmen',
    file: 'Datei …',
    ask: 'Um eine Datei bitten',
    sentence: 'Leg die Datei in .relay/out ab.',
    limit: 'Dateien bis 25 MB. Relay prüft keine Dateien.',
    attached: 'Angehängte Dateien',
    sent: 'Dateien',
    remove: (name) => `${name} entfernen`,
    waits: 'wartet',
    waitsFor: (machine) => `wartet auf ${machine}`,
    keeps: 'Dieses Gerät behält die Datei bis dahin.',
    percent: (percent) => `${percent} %`,
    sending: (count, percent) =>
      count === 1 ? `Die Datei wird gesendet … ${percent} %` : `${count} Dateien werden gesendet … ${percent} %`,
    tooLarge: (name, size) => `${name} hat ${size}. Dateien können 25 MB groß sein.`,
    tooMany: 'Höchstens 10 Dateien.',
    tooMuch: 'Die Dateien einer Nachricht können zusammen 100 MB groß sein.',
    kind: (ending) => kinds[ending] ?? (ending === '' ? 'Datei' : `${ending.toUpperCase()}-Datei`),
    from: (agent, machine) => `von ${agent === '' ? 'dem Agenten' : agent} auf ${machine}`,
    shared: 'In diesem Ordner liefen mehrere Sitzungen, die Datei kann auch von einer anderen sein.',
    share: (name) => `${name} teilen`,
    download: 'Herunterladen',
    canRun: 'Kann Code ausführen. Relay öffnet sie nie; speichere sie nur, wenn du sie erwartet hast.',
    gone: (machine, name) => `${machine ?? 'Der Rechner'} hat ${name} nicht mehr.`,
  },
};
