-- CreateTable
CREATE TABLE "inbox_items" (
    "id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "session_key" TEXT NOT NULL DEFAULT '',
    "subject" TEXT NOT NULL,
    "reason" TEXT,
    "state" TEXT NOT NULL DEFAULT 'open',
    "version" BIGINT NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3),
    "snoozed_until" TIMESTAMPTZ(3),
    "closed_at" TIMESTAMPTZ(3),
    "closed_by" TEXT,

    CONSTRAINT "inbox_items_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "inbox_heads" (
    "user_id" TEXT NOT NULL,
    "version" BIGINT NOT NULL,
    "published" BIGINT NOT NULL DEFAULT 0,
    "raised_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "inbox_heads_pkey" PRIMARY KEY ("user_id")
);

-- CreateIndex
CREATE INDEX "inbox_items_user_id_version_idx" ON "inbox_items"("user_id", "version");

-- Partial indexes, which the schema cannot say. The first one answers the counts and the pages of a person without the table, for
-- however many items were closed.
CREATE INDEX "inbox_items_open_idx" ON "inbox_items"("user_id", "created_at" DESC, "id" DESC) INCLUDE ("kind", "state") WHERE "state" <> 'closed';
CREATE UNIQUE INDEX "inbox_items_open_key" ON "inbox_items"("user_id", "kind", "session_key", "subject") WHERE "state" <> 'closed';
CREATE INDEX "inbox_items_expires_idx" ON "inbox_items"("expires_at") WHERE "state" <> 'closed' AND "expires_at" IS NOT NULL;
CREATE INDEX "inbox_items_snoozed_idx" ON "inbox_items"("snoozed_until") WHERE "state" = 'snoozed';
CREATE INDEX "inbox_items_closed_idx" ON "inbox_items"("closed_at") WHERE "state" = 'closed';
CREATE INDEX "inbox_heads_behind_idx" ON "inbox_heads"("raised_at") WHERE "version" > "published";

-- What waits already.
INSERT INTO inbox_items (id, user_id, kind, session_key, subject, version, created_at, expires_at)
SELECT gen_random_uuid()::text, s.owner_id, 'question', s.key, p.uuid, 1, p.asked_at, p.expires_at
FROM prompts p JOIN sessions s ON s.key = p.session_key AND s.deleted_at IS NULL
WHERE p.state = 'open' AND (p.expires_at IS NULL OR p.expires_at > now());

INSERT INTO inbox_items (id, user_id, kind, session_key, subject, version, created_at)
SELECT gen_random_uuid()::text, s.owner_id, 'question', s.key, '', 1, s.updated_at
FROM sessions s WHERE s.status = 'waiting' AND s.prompt IS NOT NULL AND s.prompt->>'id' IS NULL AND s.deleted_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM tasks q WHERE q.session_key = s.key AND q.state = 'queued' AND q.seq > s.prompt_seq);

INSERT INTO inbox_items (id, user_id, kind, session_key, subject, version, created_at)
SELECT gen_random_uuid()::text, s.owner_id, 'unknown', s.key, t.id, 1, t.finished_at
FROM sessions s CROSS JOIN LATERAL (SELECT u.id, u.finished_at FROM tasks u WHERE u.session_key = s.key AND u.state = 'unknown'
  ORDER BY u.seq DESC LIMIT 1) t
WHERE s.queue_held AND s.deleted_at IS NULL;

INSERT INTO inbox_heads (user_id, version, published) SELECT DISTINCT user_id, 1, 1 FROM inbox_items;

-- Items are opened and closed by triggers, so that no writer forgets one (an instance of the release before, too) and no message
-- costs a statement more. An item that is open already begins again.
CREATE FUNCTION relay_inbox_open(person text, what text, session text, about text, why text, ends timestamptz) RETURNS void LANGUAGE sql AS $$
  INSERT INTO inbox_items (id, user_id, kind, session_key, subject, reason, expires_at)
  VALUES (gen_random_uuid()::text, person, what, session, about, why, ends)
  ON CONFLICT (user_id, kind, session_key, subject) WHERE state <> 'closed' DO UPDATE
  SET state = 'open', version = 0, created_at = now(), reason = excluded.reason, expires_at = excluded.expires_at, snoozed_until = NULL
$$;

-- `about`: null for all of these kinds.
CREATE FUNCTION relay_inbox_close(person text, kinds text[], session text, about text, cause text) RETURNS void LANGUAGE sql AS $$
  UPDATE inbox_items SET state = 'closed', version = 0, closed_at = now(), closed_by = cause, snoozed_until = NULL
  WHERE user_id = person AND kind = ANY(kinds) AND session_key = session AND (about IS NULL OR subject = about) AND state <> 'closed'
$$;

-- At the end of the transaction, so that the head is the last row that it locks; once for each person. The items get its version. The
-- notice tells the program that committed; it reaches no log and no other program.
CREATE FUNCTION relay_inbox_raise() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE raised bigint;
BEGIN
  INSERT INTO inbox_heads AS h (user_id, version) VALUES (NEW.user_id, 1)
  ON CONFLICT (user_id) DO UPDATE SET version = h.version + 1, raised_at = now() WHERE h.xmin <> pg_current_xact_id()::xid
  RETURNING version INTO raised;
  IF raised IS NULL THEN
    SELECT version INTO raised FROM inbox_heads WHERE user_id = NEW.user_id;
  ELSE
    RAISE NOTICE 'relay inbox' USING DETAIL = NEW.user_id;
  END IF;
  UPDATE inbox_items SET version = raised WHERE id = NEW.id AND version = 0;
  RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER relay_inbox_raise AFTER INSERT OR UPDATE ON "inbox_items" DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN (NEW.version = 0) EXECUTE FUNCTION relay_inbox_raise();

CREATE FUNCTION relay_inbox_prompt() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE person text;
BEGIN
  SELECT owner_id INTO person FROM sessions WHERE key = COALESCE(NEW.session_key, OLD.session_key);
  IF person IS NULL THEN
    RETURN NULL; -- its session is deleted in this statement, and closes all its items
  ELSIF TG_OP <> 'DELETE' AND NEW.state = 'open' THEN
    PERFORM relay_inbox_open(person, 'question', NEW.session_key, NEW.uuid, NULL, NEW.expires_at);
  ELSE
    PERFORM relay_inbox_close(person, '{question}', OLD.session_key, OLD.uuid, CASE WHEN TG_OP = 'DELETE' THEN 'deleted' ELSE NEW.state END);
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER relay_inbox_asked AFTER INSERT ON "prompts" FOR EACH ROW WHEN (NEW.state = 'open') EXECUTE FUNCTION relay_inbox_prompt();
CREATE TRIGGER relay_inbox_prompt AFTER UPDATE OF state ON "prompts" FOR EACH ROW
  WHEN (OLD.state <> NEW.state AND 'open' IN (OLD.state, NEW.state)) EXECUTE FUNCTION relay_inbox_prompt();
CREATE TRIGGER relay_inbox_deleted AFTER DELETE ON "prompts" FOR EACH ROW WHEN (OLD.state = 'open') EXECUTE FUNCTION relay_inbox_prompt();

-- A question without a name: its session has it, and the next message answers it.
CREATE FUNCTION relay_inbox_unnamed(session text) RETURNS void LANGUAGE sql AS $$
  SELECT relay_inbox_open(s.owner_id, 'question', s.key, '', NULL, NULL) FROM sessions s
  WHERE s.key = session AND s.status = 'waiting' AND s.prompt IS NOT NULL AND s.prompt->>'id' IS NULL AND s.deleted_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM tasks q WHERE q.session_key = s.key AND q.state = 'queued' AND q.seq > s.prompt_seq)
$$;

CREATE FUNCTION relay_inbox_session() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.status = 'waiting' THEN
    PERFORM relay_inbox_unnamed(NEW.key);
  ELSE
    PERFORM relay_inbox_close(NEW.owner_id, '{question}', NEW.key, '', 'answered');
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER relay_inbox_session AFTER UPDATE OF status, prompt ON "sessions" FOR EACH ROW
  WHEN ('waiting' IN (OLD.status, NEW.status) AND (OLD.status, OLD.prompt) IS DISTINCT FROM (NEW.status, NEW.prompt))
  EXECUTE FUNCTION relay_inbox_session();

CREATE FUNCTION relay_inbox_released() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM relay_inbox_close(NEW.owner_id, '{unknown}', NEW.key, NULL, 'released');
  RETURN NULL;
END $$;

CREATE TRIGGER relay_inbox_released AFTER UPDATE OF queue_held ON "sessions" FOR EACH ROW WHEN (OLD.queue_held AND NOT NEW.queue_held)
  EXECUTE FUNCTION relay_inbox_released();

CREATE FUNCTION relay_inbox_session_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM relay_inbox_close(OLD.owner_id, '{question,failure,unknown,finished}', OLD.key, NULL, 'deleted');
  RETURN NULL;
END $$;

CREATE TRIGGER relay_inbox_session_erased AFTER UPDATE OF deleted_at ON "sessions" FOR EACH ROW
  WHEN (OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL) EXECUTE FUNCTION relay_inbox_session_gone();
CREATE TRIGGER relay_inbox_session_gone AFTER DELETE ON "sessions" FOR EACH ROW EXECUTE FUNCTION relay_inbox_session_gone();

CREATE FUNCTION relay_inbox_accepted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM relay_inbox_close(NEW.owner_id, '{failure,unknown,finished}', NEW.session_key, NULL, 'message');
  PERFORM relay_inbox_close(NEW.owner_id, '{question}', NEW.session_key, '', 'answered');
  RETURN NULL;
END $$;

CREATE TRIGGER relay_inbox_accepted AFTER INSERT ON "tasks" FOR EACH ROW WHEN (NEW.kind = 'resume') EXECUTE FUNCTION relay_inbox_accepted();

CREATE FUNCTION relay_inbox_task() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
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

CREATE TRIGGER relay_inbox_task AFTER UPDATE OF state ON "tasks" FOR EACH ROW
  WHEN (OLD.state <> NEW.state AND (NEW.state IN ('completed', 'failed', 'expired', 'unknown', 'cancelled') OR OLD.state IN ('failed', 'unknown', 'expired')))
  EXECUTE FUNCTION relay_inbox_task();

-- The end of a turn that was started on the machine.
CREATE FUNCTION relay_inbox_done() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM relay_inbox_open(NEW.user_id, 'finished', NEW.session_key, '', NULL, NULL)
  FROM watched_sessions w WHERE w.session_key = NEW.session_key AND w.user_id = NEW.user_id;
  RETURN NULL;
END $$;

CREATE TRIGGER relay_inbox_done AFTER INSERT ON "notifications" FOR EACH ROW
  WHEN (NEW.cause = 'done' AND NEW.task_id IS NULL AND NEW.session_key <> '') EXECUTE FUNCTION relay_inbox_done();

-- Two daemons with one registration: as long as the conflict lasts. The sweep opens the item of a device that is away while work waits.
CREATE FUNCTION relay_inbox_device() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.removed_at IS NOT NULL THEN
    PERFORM relay_inbox_close(OLD.owner_id, '{device}', '', NEW.id, 'deleted');
  ELSIF NEW.conflict IS DISTINCT FROM OLD.conflict AND NEW.conflict IS NOT NULL THEN
    UPDATE inbox_items SET expires_at = (NEW.conflict->>'until')::timestamptz
    WHERE user_id = NEW.owner_id AND kind = 'device' AND session_key = '' AND subject = NEW.id AND reason = 'conflict' AND state <> 'closed';
    IF NOT FOUND THEN
      PERFORM relay_inbox_open(NEW.owner_id, 'device', '', NEW.id, 'conflict', (NEW.conflict->>'until')::timestamptz);
    END IF;
  ELSIF NEW.status = 'online' AND OLD.status <> 'online' THEN
    UPDATE inbox_items SET state = 'closed', version = 0, closed_at = now(), closed_by = 'recovered', snoozed_until = NULL
    WHERE user_id = NEW.owner_id AND kind = 'device' AND session_key = '' AND subject = NEW.id AND reason = 'offline' AND state <> 'closed';
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER relay_inbox_device AFTER UPDATE OF status, conflict, removed_at ON "devices" FOR EACH ROW
  WHEN (OLD.status <> NEW.status OR OLD.conflict IS DISTINCT FROM NEW.conflict OR OLD.removed_at IS DISTINCT FROM NEW.removed_at)
  EXECUTE FUNCTION relay_inbox_device();
