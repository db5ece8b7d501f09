-- The head of an inbox carries the numbers of open items by kind and of snoozed items, so no reader counts items (ADR 105). Null: not counted yet,
-- readers count. The trigger that raises the head adds each change of an item, at the end of its transaction.
-- compatible-with: 1.0.0
ALTER TABLE "inbox_heads" ADD COLUMN "counts" JSONB;

CREATE FUNCTION relay_inbox_counted(counts jsonb, kind text, state text, change int) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN state IS NULL OR state = 'closed' THEN counts
    ELSE counts || jsonb_build_object(named, COALESCE((counts->>named)::int, 0) + change) END
  FROM (SELECT CASE state WHEN 'open' THEN kind ELSE state END AS named) n
$$;

CREATE FUNCTION relay_inbox_count(person text) RETURNS jsonb LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
  RETURN COALESCE((SELECT jsonb_object_agg(c.named, c.number) FROM (
    SELECT CASE i.state WHEN 'open' THEN i.kind ELSE i.state END AS named, count(*) AS number
    FROM inbox_items i WHERE i.user_id = person AND i.state <> 'closed' GROUP BY 1) c), '{}');
END $$;

CREATE OR REPLACE FUNCTION relay_inbox_raise() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE raised bigint;
BEGIN
  -- The first item of a person makes the head.
  INSERT INTO inbox_heads AS h (user_id, version, counts)
  VALUES (NEW.user_id, 1, CASE WHEN TG_OP = 'INSERT' THEN relay_inbox_counted('{}', NEW.kind, NEW.state, 1) END)
  ON CONFLICT (user_id) DO UPDATE SET version = h.version + 1, raised_at = now(),
    counts = relay_inbox_counted(relay_inbox_counted(h.counts, OLD.kind, OLD.state, -1), NEW.kind, NEW.state, 1)
  WHERE h.xmin <> pg_current_xact_id()::xid
  RETURNING version INTO raised;
  IF raised IS NULL THEN
    UPDATE inbox_heads h SET counts = relay_inbox_counted(relay_inbox_counted(h.counts, OLD.kind, OLD.state, -1), NEW.kind, NEW.state, 1)
    WHERE user_id = NEW.user_id RETURNING version INTO raised;
  ELSE
    RAISE NOTICE 'relay inbox' USING DETAIL = NEW.user_id;
  END IF;
  UPDATE inbox_items SET version = raised WHERE id = NEW.id AND version = 0;
  RETURN NULL;
END $$;

CREATE FUNCTION relay_inbox_removed() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
  UPDATE inbox_heads SET counts = relay_inbox_counted(counts, OLD.kind, OLD.state, -1) WHERE user_id = OLD.user_id;
  RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER relay_inbox_removed AFTER DELETE ON "inbox_items" DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN (OLD.state <> 'closed') EXECUTE FUNCTION relay_inbox_removed();
