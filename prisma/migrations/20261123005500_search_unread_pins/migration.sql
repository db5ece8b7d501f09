-- AlterTable
ALTER TABLE "sessions" ADD COLUMN     "news_at" TIMESTAMPTZ(3),
ADD COLUMN     "pinned_at" TIMESTAMPTZ(3),
ADD COLUMN     "read_at" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "session_words" (
    "session_key" TEXT NOT NULL,
    "words" tsvector NOT NULL,

    CONSTRAINT "session_words_pkey" PRIMARY KEY ("session_key")
);

-- CreateIndex
CREATE INDEX "session_words_words_idx" ON "session_words" USING GIN ("words");

-- CreateIndex
CREATE INDEX "sessions_owner_id_status_updated_at_key_idx" ON "sessions"("owner_id", "status", "updated_at" DESC, "key" DESC);

-- CreateIndex
CREATE INDEX "sessions_owner_id_pinned_at_idx" ON "sessions"("owner_id", "pinned_at");

-- AddForeignKey
ALTER TABLE "session_words" ADD CONSTRAINT "session_words_session_key_fkey" FOREIGN KEY ("session_key") REFERENCES "sessions"("key") ON DELETE CASCADE ON UPDATE CASCADE;

-- The words of a text, each once, in lower case: runs of letters and digits, and each character of scripts without spaces.
CREATE FUNCTION relay_words(said text) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
  SELECT COALESCE(array_agg(DISTINCT left(word, 64)), '{}')
  FROM regexp_split_to_table(regexp_replace(lower(said), '([\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])', ' \1 ', 'g'), '[^[:alnum:]]+') AS word
  WHERE word <> ''
$$;

-- A word that no text has: it keeps the sessions of one person together in the index.
CREATE FUNCTION relay_owner_word(owner_id text) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT '/' || hashtextextended(owner_id, 0) $$;

-- Beside the sessions, because those change with every step of a task, and their words seldom.
CREATE FUNCTION relay_session_words() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO session_words (session_key, words)
  VALUES (NEW.key, array_to_tsvector(relay_words(left(NEW.title, 1024) || ' ' || left(NEW.project_path, 1024) || ' ' || NEW.last_message)
    || relay_owner_word(NEW.owner_id)))
  ON CONFLICT (session_key) DO UPDATE SET words = excluded.words;
  RETURN NULL;
END $$;

CREATE TRIGGER relay_session_words AFTER INSERT ON "sessions" FOR EACH ROW EXECUTE FUNCTION relay_session_words();
CREATE TRIGGER relay_session_words_changed AFTER UPDATE OF title, project_path, last_message ON "sessions" FOR EACH ROW
  WHEN ((OLD.title, OLD.project_path, OLD.last_message) IS DISTINCT FROM (NEW.title, NEW.project_path, NEW.last_message))
  EXECUTE FUNCTION relay_session_words();

INSERT INTO session_words (session_key, words)
SELECT key, array_to_tsvector(relay_words(left(title, 1024) || ' ' || left(project_path, 1024) || ' ' || last_message) || relay_owner_word(owner_id))
FROM sessions;
