-- Functions that triggers call for each message are of plpgsql: a connection keeps their plans, and one of SQL is planned at every call.
-- compatible-with: 1.0.0
CREATE OR REPLACE FUNCTION relay_words(said text) RETURNS text[] LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN (SELECT COALESCE(array_agg(DISTINCT left(word, 64)), '{}')
    FROM regexp_split_to_table(regexp_replace(lower(said), '([\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])', ' \1 ', 'g'), '[^[:alnum:]]+') AS word
    WHERE word <> '');
END $$;

CREATE OR REPLACE FUNCTION relay_inbox_open(person text, what text, session text, about text, why text, ends timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO inbox_items (id, user_id, kind, session_key, subject, reason, expires_at)
  VALUES (gen_random_uuid()::text, person, what, session, about, why, ends)
  ON CONFLICT (user_id, kind, session_key, subject) WHERE state <> 'closed' DO UPDATE
  SET state = 'open', version = 0, created_at = now(), reason = excluded.reason, expires_at = excluded.expires_at, snoozed_until = NULL;
END $$;

-- `about`: null for all of these kinds.
CREATE OR REPLACE FUNCTION relay_inbox_close(person text, kinds text[], session text, about text, cause text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE inbox_items SET state = 'closed', version = 0, closed_at = now(), closed_by = cause, snoozed_until = NULL
  WHERE user_id = person AND kind = ANY(kinds) AND session_key = session AND (about IS NULL OR subject = about) AND state <> 'closed';
END $$;

CREATE OR REPLACE FUNCTION relay_inbox_unnamed(session text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM relay_inbox_open(s.owner_id, 'question', s.key, '', NULL, NULL) FROM sessions s
  WHERE s.key = session AND s.status = 'waiting' AND s.prompt IS NOT NULL AND s.prompt->>'id' IS NULL AND s.deleted_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM tasks q WHERE q.session_key = s.key AND q.state = 'queued' AND q.seq > s.prompt_seq);
END $$;
