-- compatible-with: 1.0.0
-- batched
UPDATE session_words w
SET words = array_to_tsvector(relay_words(left(s.title, 1024) || ' ' || left(s.project_path, 1024) || ' ' || s.last_message) || relay_owner_word(s.owner_id)), version = 1
FROM sessions s
WHERE s.key = w.session_key AND w.version = 0 AND w.session_key IN (SELECT session_key FROM session_words WHERE version = 0 LIMIT 500);
