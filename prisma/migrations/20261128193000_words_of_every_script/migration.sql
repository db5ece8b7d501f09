-- Words no longer depend on the locale of the database: under C, PostgreSQL knows only the letters of ASCII. A collation with the letters of
-- Unicode is part of the function: the first of these names that the server has.
-- compatible-with: 1.0.0
ALTER TABLE "session_words" ADD COLUMN "version" SMALLINT NOT NULL DEFAULT 0;

-- The words of a text, each once, in lower case and NFC: runs of letters, digits and marks; each character of Chinese, Japanese and Korean; pairs of
-- neighbours in Thai, Lao, Burmese and Khmer, at both alignments; and the part of a word that begins with its first digit after a letter.
DO $do$
DECLARE
  unicode text := COALESCE((SELECT w.name FROM unnest(ARRAY['pg_c_utf8', 'und-x-icu', 'C.utf8', 'C.UTF-8']) WITH ORDINALITY AS w (name, place)
    JOIN pg_collation c ON c.collname = w.name AND c.collnamespace = 'pg_catalog'::regnamespace
      AND c.collencoding IN (-1, (SELECT encoding FROM pg_database WHERE datname = current_database()))
    ORDER BY w.place LIMIT 1), 'default');
BEGIN
  EXECUTE format($make$
CREATE OR REPLACE FUNCTION relay_words(said text) RETURNS text[] LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  plain text COLLATE %1$I := normalize(lower(said COLLATE %1$I), NFC);
  gaps text := '[^[:alnum:]\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0eff\u0f18-\u0fbc\u1000-\u109f\u1780-\u17ff]+';
BEGIN
  RETURN (SELECT COALESCE(array_agg(DISTINCT left(word, 64) COLLATE "C"), '{}') FROM (
    SELECT regexp_split_to_table(regexp_replace(plain, '([\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]{1,2})', ' \1 ', 'g'), gaps)
    UNION ALL
    SELECT (regexp_matches(shifted, '[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]{1,2}', 'g'))[1]
    FROM regexp_replace(plain, '(?<![\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff])[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]', ' ', 'g') AS shifted
    UNION ALL
    SELECT (regexp_matches(plain, '[[:alpha:]]([[:digit:]][[:alnum:]]*)', 'g'))[1]
  ) AS found (word) WHERE word <> '');
END $$
$make$, unicode);
END $do$;

CREATE OR REPLACE FUNCTION relay_session_words() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO session_words (session_key, words, version)
  VALUES (NEW.key, array_to_tsvector(relay_words(left(NEW.title, 1024) || ' ' || left(NEW.project_path, 1024) || ' ' || NEW.last_message)
    || relay_owner_word(NEW.owner_id)), 1)
  ON CONFLICT (session_key) DO UPDATE SET words = excluded.words, version = 1;
  RETURN NULL;
END $$;
