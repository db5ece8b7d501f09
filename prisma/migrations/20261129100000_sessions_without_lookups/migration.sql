-- A list shows the last task of each session and whether it is watched. Triggers write both to the session, so a page reads only its own rows (ADR 105).
-- "last_task": `{id, state, code?, automatic?}` of the newest task, or `{}`; null while a task is not settled, and in rows that are older than the
-- column: then readers look the tasks up.
-- compatible-with: 1.0.0
ALTER TABLE "sessions" ADD COLUMN "last_task" JSONB, ADD COLUMN "watched" BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE "sessions" ALTER COLUMN "last_task" SET DEFAULT '{}';

CREATE FUNCTION relay_last_task(session text) RETURNS jsonb LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM tasks t WHERE t.session_key = session AND t.state BETWEEN 'later' AND 'sent') THEN
    RETURN NULL;
  END IF;
  RETURN COALESCE((SELECT jsonb_strip_nulls(jsonb_build_object('id', t.id, 'state', t.state, 'code', t.error_code, 'automatic', NULLIF(t.automatic, false)))
    FROM tasks t WHERE t.session_key = session AND (t.kind <> 'steer' OR t.state = 'unknown') ORDER BY t.seq DESC LIMIT 1), '{}');
END $$;

CREATE FUNCTION relay_session_last_task() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE settled jsonb;
BEGIN
  IF NEW.state BETWEEN 'later' AND 'sent' THEN
    -- Writes where it is null, too: whoever computes a last task without the lock of the device then waits for this task, or this task for it.
    UPDATE sessions SET last_task = NULL WHERE key = NEW.session_key;
  ELSE
    settled := relay_last_task(NEW.session_key);
    UPDATE sessions SET last_task = settled WHERE key = NEW.session_key AND last_task IS DISTINCT FROM settled;
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER relay_session_task_added AFTER INSERT ON "tasks" FOR EACH ROW EXECUTE FUNCTION relay_session_last_task();
CREATE TRIGGER relay_session_task_moved AFTER UPDATE OF session_key, state ON "tasks" FOR EACH ROW
  WHEN (OLD.session_key <> NEW.session_key OR NEW.state NOT BETWEEN 'later' AND 'sent' OR OLD.state NOT BETWEEN 'later' AND 'sent')
  EXECUTE FUNCTION relay_session_last_task();

CREATE FUNCTION relay_is_watched(session text) RETURNS boolean LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
  RETURN EXISTS (SELECT 1 FROM sessions s JOIN watched_sessions w ON w.session_key = s.key AND w.user_id = s.owner_id WHERE s.key = session);
END $$;

CREATE OR REPLACE FUNCTION relay_session_watched() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE sessions SET watched = relay_is_watched(key) WHERE key = COALESCE(NEW.session_key, OLD.session_key);
  RETURN NULL;
END $$;
