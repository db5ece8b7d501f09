-- A text as `relay_words` reads it, to find a term in it without its index.
-- compatible-with: 1.0.0
DO $do$
DECLARE
  unicode text := COALESCE((SELECT w.name FROM unnest(ARRAY['pg_c_utf8', 'und-x-icu', 'C.utf8', 'C.UTF-8']) WITH ORDINALITY AS w (name, place)
    JOIN pg_collation c ON c.collname = w.name AND c.collnamespace = 'pg_catalog'::regnamespace
      AND c.collencoding IN (-1, (SELECT encoding FROM pg_database WHERE datname = current_database()))
    ORDER BY w.place LIMIT 1), 'default');
BEGIN
  EXECUTE format($make$
CREATE OR REPLACE FUNCTION relay_plain(said text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT normalize(lower(said COLLATE %1$I), NFC) COLLATE "C"
$$
$make$, unicode);
END $do$;

-- The full-text index answers bitmap scans alone, which connections turn off.
ALTER FUNCTION relay_sessions_with(tsquery, int) SET enable_bitmapscan = on;
