-- compatible-with: 1.0.0
-- batched
UPDATE session_words w
SET own = relay_own_words(s.owner_id, relay_words(left(s.title, 1024) || ' ' || left(s.project_path, 1024) || ' ' || s.last_message)), version = 2
FROM sessions s
WHERE s.key = w.session_key AND w.own IS NULL AND w.session_key IN (SELECT session_key FROM session_words WHERE own IS NULL LIMIT 500);
