// The history that an agent wrote of one session, compared with the messages that were sent to it.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const rowsOf = (path) =>
  readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        return [JSON.parse(line)];
      } catch {
        return [];
      }
    });
const textOf = (content) =>
  typeof content === 'string' ? content : (content ?? []).map(({ text = '' }) => text).join('\n');

/** Each format: the folder, the id of a session by its file, and the texts of one role. */
const formats = {
  claude_code: {
    folder: '.claude/projects',
    idOf: (path) => /([^/]+)\.jsonl$/.exec(path)[1],
    texts: (rows, role) =>
      rows
        .filter((row) => row.type === role && !row.isSidechain && !row.isMeta)
        .map(({ message }) => textOf(message.content)),
    /** Rows that the newest row does not descend from. */
    besides(rows) {
      const talk = rows.filter(({ uuid, isSidechain }) => uuid && !isSidechain);
      const byId = new Map(talk.map((row) => [row.uuid, row]));
      const line = new Set();
      for (let row = talk.at(-1); row && !line.has(row); row = byId.get(row.parentUuid)) line.add(row);
      return talk.filter((row) => (row.type === 'user' || row.type === 'assistant') && !line.has(row));
    },
  },
  codex: {
    folder: '.codex/sessions',
    idOf: (path) => /([\da-f-]{36})\.jsonl$/.exec(path)[1],
    texts: (rows, role) =>
      rows
        .filter(({ type, payload }) => type === 'response_item' && payload.type === 'message' && payload.role === role)
        .map(({ payload }) => textOf(payload.content)),
    besides: (rows) => rows.filter(({ type }) => type === 'session_meta').slice(1),
  },
};

/** Finds the sessions of the agent `name` in this home by the text of their messages. */
export function histories(name, home) {
  const { folder, idOf, texts, besides } = formats[name];
  const files = () => {
    try {
      return readdirSync(join(home, folder), { recursive: true })
        .filter((file) => file.endsWith('.jsonl'))
        .map((file) => join(home, folder, file));
    } catch {
      return [];
    }
  };
  const withWord = (word) => files().filter((path) => readFileSync(path, 'utf8').includes(word));
  return {
    /** The id of the session that got a message with this word. */
    idWith: (word) => withWord(word).map(idOf)[0],
    /** Whether a message or an answer with this word is in the file. */
    has: (id, role, word) =>
      withWord(word).some((path) => idOf(path) === id && texts(rowsOf(path), role).some((text) => text.includes(word))),
    /**
     * Compares the file of this session with the messages `sent`, in order. Returns the difference; undefined if they are one line, each once.
     */
    compare(id, sent) {
      const own = files().filter((path) => idOf(path) === id);
      const elsewhere = [...new Set(sent.flatMap(({ word }) => withWord(word)))].filter((path) => !own.includes(path));
      if (own.length !== 1 || elsewhere.length > 0) return `${own.length} files, and ${elsewhere.join(' ')}`;
      const rows = rowsOf(own[0]);
      const fork = besides(rows);
      if (fork.length > 0) return `beside the line: ${fork.map((row) => JSON.stringify(row).slice(0, 300)).join('\n')}`;
      const words = (texts_) => texts_.flatMap((text) => text.match(/\bword-[\w-]+/g) ?? []);
      const [wanted, found] = [sent.map(({ word }) => word), words(texts(rows, 'user'))];
      if (wanted.join() !== found.join()) return `sent ${wanted.join(' ')}, in the file ${found.join(' ')}`;
      const answers = words(texts(rows, 'assistant'));
      const due = sent.flatMap(({ word, isAnswered }) => (isAnswered ? [word] : []));
      return due.join() === answers.join()
        ? undefined
        : `answers to ${due.join(' ')}, in the file ${answers.join(' ')}`;
    },
  };
}
