-- The word of an owner is immutable as declared, so that PostgreSQL puts it in place of the call. "text || bigint" is only stable, and kept the
-- function a call that was planned each time, twice in a turn.
-- compatible-with: 1.0.0
CREATE OR REPLACE FUNCTION relay_owner_word(owner_id text) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT '/' || hashtextextended(owner_id, 0)::text $$;
