-- Turns that agents started and that are not over, by person.
-- compatible-with: 1.0.0
CREATE INDEX CONCURRENTLY "tasks_of_agents_idx" ON "tasks"("owner_id") WHERE "agent_depth" IS NOT NULL AND "finished_at" IS NULL;
