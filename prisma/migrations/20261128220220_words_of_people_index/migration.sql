-- compatible-with: 1.0.0
-- A search reads all pending entries of the index: few of them.
CREATE INDEX CONCURRENTLY "session_words_own_idx" ON "session_words" USING GIN ("own") WITH (gin_pending_list_limit = 64);
