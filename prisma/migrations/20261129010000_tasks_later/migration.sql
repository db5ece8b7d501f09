-- Messages with a time (ADR 92): tasks in the state `later`, until `not_before`.
-- compatible-with: 1.0.0
ALTER TABLE "tasks" ADD COLUMN "not_before" TIMESTAMPTZ(3), ADD COLUMN "because" TEXT;

-- Such a message closes items of the inbox when it joins its queue, not when it is accepted.
DROP TRIGGER relay_inbox_accepted ON "tasks";
CREATE TRIGGER relay_inbox_accepted AFTER INSERT ON "tasks" FOR EACH ROW
  WHEN (NEW.kind = 'resume' AND NEW.state <> 'later') EXECUTE FUNCTION relay_inbox_accepted();
CREATE TRIGGER relay_inbox_released AFTER UPDATE OF state ON "tasks" FOR EACH ROW
  WHEN (OLD.state = 'later' AND NEW.state = 'queued' AND NEW.kind = 'resume') EXECUTE FUNCTION relay_inbox_accepted();
