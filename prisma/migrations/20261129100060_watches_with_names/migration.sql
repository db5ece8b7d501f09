-- The name of a watched session, so that the list of watches is read from one index. Triggers fill it, also for the release before.
-- compatible-with: 1.0.0
ALTER TABLE "watched_sessions" ADD COLUMN "agent_type" TEXT, ADD COLUMN "native_id" TEXT;

CREATE OR REPLACE FUNCTION relay_watch_device() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- The lock waits for a session that gets another name in this moment.
  SELECT device_id, agent_type, native_id INTO NEW.device_id, NEW.agent_type, NEW.native_id FROM sessions WHERE key = NEW.session_key FOR KEY SHARE;
  RETURN NEW;
END $$;

CREATE FUNCTION relay_watch_name() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE watched_sessions SET agent_type = NEW.agent_type, native_id = NEW.native_id WHERE session_key = NEW.key;
  RETURN NULL;
END $$;

CREATE TRIGGER relay_watch_name AFTER UPDATE OF agent_type, native_id ON "sessions" FOR EACH ROW
  WHEN ((OLD.agent_type, OLD.native_id) IS DISTINCT FROM (NEW.agent_type, NEW.native_id)) EXECUTE FUNCTION relay_watch_name();
