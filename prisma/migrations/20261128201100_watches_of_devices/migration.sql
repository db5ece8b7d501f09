-- The device of a watched session, so that a connection reads only the watches of its device. A trigger fills it, also for the release before.
-- compatible-with: 1.0.0
ALTER TABLE "watched_sessions" ADD COLUMN "device_id" TEXT;

CREATE FUNCTION relay_watch_device() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  SELECT device_id INTO NEW.device_id FROM sessions WHERE key = NEW.session_key;
  RETURN NEW;
END $$;

CREATE TRIGGER relay_watch_device BEFORE INSERT ON "watched_sessions" FOR EACH ROW EXECUTE FUNCTION relay_watch_device();
