-- Each indexed word begins with its person, so a search reads the words of this person alone. The column `words` stays for instances of the release
-- before, which search there.
-- compatible-with: 1.0.0
ALTER TABLE "session_words" ADD COLUMN "own" tsvector;

CREATE OR REPLACE FUNCTION relay_own_words(person text, words text[]) RETURNS tsvector LANGUAGE sql IMMUTABLE AS $$
  SELECT array_to_tsvector(ARRAY(SELECT relay_owner_word(person) || '/' || word FROM unnest(words) AS word))
$$;

CREATE OR REPLACE FUNCTION relay_session_words() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE found text[] := relay_words(left(NEW.title, 1024) || ' ' || left(NEW.project_path, 1024) || ' ' || NEW.last_message);
BEGIN
  INSERT INTO session_words (session_key, words, own, version)
  VALUES (NEW.key, array_to_tsvector(found || relay_owner_word(NEW.owner_id)), relay_own_words(NEW.owner_id, found), 2)
  ON CONFLICT (session_key) DO UPDATE SET words = excluded.words, own = excluded.own, version = 2;
  RETURN NULL;
END $$;

-- Keys of sessions with these words, at most so many: through the index, also in a plan that was made when the table was small.
CREATE OR REPLACE FUNCTION relay_sessions_with(wanted tsquery, most int) RETURNS SETOF text LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
BEGIN
  RETURN QUERY SELECT w.session_key FROM session_words w WHERE w.own @@ wanted LIMIT most;
END $$;
