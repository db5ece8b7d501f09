-- AlterTable
ALTER TABLE "sessions" ADD COLUMN "version" BIGINT NOT NULL DEFAULT 0;

-- Every change of a session, whoever makes it (an instance of the release before, too), has the next number, and is not older than the
-- change before: transactions begin in one order and commit in another.
CREATE FUNCTION relay_session_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.version := OLD.version + 1;
  NEW.updated_at := GREATEST(NEW.updated_at, OLD.updated_at);
  RETURN NEW;
END $$;

CREATE TRIGGER relay_session_version BEFORE UPDATE ON "sessions" FOR EACH ROW EXECUTE FUNCTION relay_session_version();

-- Whether it is watched is shown with a session and stands elsewhere.
CREATE FUNCTION relay_session_watched() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE sessions SET version = version WHERE key = COALESCE(NEW.session_key, OLD.session_key);
  RETURN NULL;
END $$;

CREATE TRIGGER relay_session_watched AFTER INSERT OR DELETE ON "watched_sessions" FOR EACH ROW EXECUTE FUNCTION relay_session_watched();
