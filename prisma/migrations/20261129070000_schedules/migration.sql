-- Messages that repeat (ADR 95): their rules and their runs.
-- compatible-with: 1.0.0
CREATE TABLE "schedules" (
    "id" TEXT NOT NULL,
    "owner_id" TEXT NOT NULL,
    "device_id" TEXT NOT NULL,
    "agent_type" TEXT NOT NULL,
    "project_path" TEXT NOT NULL DEFAULT '',
    "session_key" TEXT,
    "title" TEXT,
    "message" TEXT NOT NULL,
    "settings" JSONB,
    "dangerous" BOOLEAN NOT NULL DEFAULT false,
    "cron" TEXT NOT NULL,
    "zone" TEXT NOT NULL,
    "from_at" TIMESTAMPTZ(3),
    "until_at" TIMESTAMPTZ(3),
    "times" INTEGER,
    "made" INTEGER NOT NULL DEFAULT 0,
    "wait_seconds" INTEGER NOT NULL,
    "program" TEXT,
    "paused_for" TEXT,
    "counts_from" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "next_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "schedules_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "schedule_runs" (
    "schedule_id" TEXT NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL,
    "owner_id" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "reason" TEXT,
    "manual" BOOLEAN NOT NULL DEFAULT false,
    "task_id" TEXT,
    "session_key" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "schedule_runs_pkey" PRIMARY KEY ("schedule_id","due_at")
);

CREATE INDEX "schedules_owner_id_idx" ON "schedules"("owner_id");
CREATE INDEX "schedules_device_id_idx" ON "schedules"("device_id");
CREATE INDEX "schedules_session_key_idx" ON "schedules"("session_key");
CREATE INDEX "schedules_next_at_idx" ON "schedules"("next_at");
CREATE INDEX "schedule_runs_task_id_idx" ON "schedule_runs"("task_id");
CREATE INDEX "schedule_runs_owner_id_created_at_idx" ON "schedule_runs"("owner_id", "created_at");
CREATE INDEX "schedule_runs_created_at_idx" ON "schedule_runs"("created_at");

ALTER TABLE "schedule_runs" ADD CONSTRAINT "schedule_runs_schedule_id_fkey" FOREIGN KEY ("schedule_id") REFERENCES "schedules"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- The schedule that began a session.
ALTER TABLE "sessions" ADD COLUMN "schedule_id" TEXT;

-- Five runs in a row that failed, were missed or were skipped pause a schedule.
CREATE FUNCTION relay_schedule_failing(schedule text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE schedules s SET paused_for = 'failing', next_at = NULL, updated_at = now()
  WHERE s.id = schedule AND s.paused_for IS NULL AND 5 = (SELECT count(*) FROM (SELECT r.state FROM schedule_runs r
    WHERE r.schedule_id = s.id AND NOT r.manual AND r.created_at >= s.counts_from ORDER BY r.due_at DESC LIMIT 5) newest
    WHERE newest.state IN ('failed', 'missed', 'skipped'));
END $$;

-- A run follows its task.
CREATE FUNCTION relay_schedule_settled() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  v_run record;
  v_state text := CASE NEW.state WHEN 'completed' THEN 'done' WHEN 'waiting' THEN 'asked' WHEN 'expired' THEN 'missed' WHEN 'cancelled' THEN 'cancelled' ELSE 'failed' END;
BEGIN
  UPDATE schedule_runs SET state = v_state, reason = CASE v_state WHEN 'missed' THEN 'offline' WHEN 'failed' THEN NEW.error_code END, ended_at = now()
  WHERE task_id = NEW.id RETURNING * INTO v_run;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  IF v_state = 'missed' THEN
    PERFORM relay_inbox_open(v_run.owner_id, 'missed', '', v_run.schedule_id, 'offline', NULL);
  END IF;
  PERFORM relay_schedule_failing(v_run.schedule_id);
  RETURN NULL;
END $$;

CREATE TRIGGER relay_schedule_settled AFTER UPDATE OF state ON "tasks" FOR EACH ROW
  WHEN (NEW.because = 'schedule' AND OLD.state <> NEW.state AND NEW.state NOT IN ('later', 'queued', 'sent', 'running')) EXECUTE FUNCTION relay_schedule_settled();

-- A run that was missed has an item of its schedule, not one of its task.
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
  ELSIF NEW.state = 'expired' AND NEW.because = 'schedule' THEN
    NULL;
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
