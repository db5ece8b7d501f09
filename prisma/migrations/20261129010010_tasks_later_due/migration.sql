-- The messages whose time comes first.
-- compatible-with: 1.0.0
CREATE INDEX CONCURRENTLY "tasks_later_idx" ON "tasks"("not_before") WHERE "state" = 'later';
