-- The messages of a person that have a time.
-- compatible-with: 1.0.0
CREATE INDEX CONCURRENTLY "tasks_later_of_owner_idx" ON "tasks"("owner_id", "not_before") WHERE "state" = 'later';
