-- The function closes one kind at a time, so that each look uses the unique index of open items. A list of kinds made PostgreSQL read every
-- open item of the person, twice for each message. Plans of a small table would read all of it and stay when it grows.
-- compatible-with: 1.0.0
CREATE OR REPLACE FUNCTION relay_inbox_close(person text, kinds text[], session text, about text, cause text) RETURNS void LANGUAGE plpgsql
SET enable_seqscan = off AS $$
DECLARE one text;
BEGIN
  FOREACH one IN ARRAY kinds LOOP
    IF about IS NULL THEN
      UPDATE inbox_items SET state = 'closed', version = 0, closed_at = now(), closed_by = cause, snoozed_until = NULL
      WHERE user_id = person AND kind = one AND session_key = session AND state <> 'closed';
    ELSE
      UPDATE inbox_items SET state = 'closed', version = 0, closed_at = now(), closed_by = cause, snoozed_until = NULL
      WHERE user_id = person AND kind = one AND session_key = session AND subject = about AND state <> 'closed';
    END IF;
  END LOOP;
END $$;
