-- A message into a running turn (ADR 82): the task whose turn it was sent to, and until when it can be written into it.
-- compatible-with: 1.0.0
ALTER TABLE "tasks" ADD COLUMN "into_task" TEXT, ADD COLUMN "into_until" TIMESTAMPTZ(3);
ALTER TABLE "audit_entries" ADD COLUMN "deliver" TEXT;

-- The end of such a message is no end of a turn. Only an unknown delivery waits for a person.
CREATE OR REPLACE FUNCTION relay_inbox_task() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.kind = 'steer' AND 'unknown' NOT IN (OLD.state, NEW.state) THEN
    RETURN NULL;
  END IF;
  IF OLD.state IN ('failed', 'unknown', 'expired') THEN
    PERFORM relay_inbox_close(NEW.owner_id, '{failure,unknown}', NEW.session_key, NEW.id, 'corrected');
  END IF;
  IF NEW.state = 'unknown' THEN
    PERFORM relay_inbox_open(NEW.owner_id, 'unknown', NEW.session_key, NEW.id, NEW.error_code, NULL);
  ELSIF NEW.state IN ('failed', 'expired') AND (NEW.sent_at IS NOT NULL OR NEW.error_code IS DISTINCT FROM 'PROMPT_SUPERSEDED') THEN
    PERFORM relay_inbox_open(NEW.owner_id, 'failure', NEW.session_key, NEW.id, NEW.error_code, NULL);
  ELSIF NEW.state = 'completed' THEN
    PERFORM relay_inbox_open(NEW.owner_id, 'finished', NEW.session_key, '', NULL, NULL)
    FROM watched_sessions w WHERE w.session_key = NEW.session_key AND w.user_id = NEW.owner_id;
  ELSIF NEW.state = 'cancelled' THEN
    PERFORM relay_inbox_close(NEW.owner_id, '{unknown}', NEW.session_key, NULL, 'cancelled');
  END IF;
  IF OLD.state = 'queued' THEN
    PERFORM relay_inbox_unnamed(NEW.session_key); -- the answer to it was never sent
  END IF;
  RETURN NULL;
END $$;
