-- PostgreSQL planned relay_own_words, a function of SQL, for each session whose text changed: 52 of the trigger's 127 µs. One of plpgsql
-- keeps its plan. Text of ASCII alone has the same words without the patterns for other scripts.
-- compatible-with: 1.0.0
CREATE OR REPLACE FUNCTION relay_own_words(person text, words text[]) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  owner text := relay_owner_word(person) || '/';
BEGIN
  RETURN array_to_tsvector(ARRAY(SELECT owner || word FROM unnest(words) AS word));
END $$;

-- See 20261128193000_words_of_every_script.
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
  plain text COLLATE %1$I;
  gaps text := '[^[:alnum:]\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0eff\u0f18-\u0fbc\u1000-\u109f\u1780-\u17ff]+';
BEGIN
  IF octet_length(said) = length(said) THEN
    RETURN (SELECT COALESCE(array_agg(DISTINCT left(word, 64) COLLATE "C"), '{}') FROM (
      SELECT regexp_split_to_table(lower(said COLLATE "C"), '[^a-z0-9]+')
      UNION ALL
      SELECT (regexp_matches(lower(said COLLATE "C"), '[a-z]([0-9][a-z0-9]*)', 'g'))[1]
    ) AS found (word) WHERE word <> '');
  END IF;
  plain := normalize(lower(said COLLATE %1$I), NFC);
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
