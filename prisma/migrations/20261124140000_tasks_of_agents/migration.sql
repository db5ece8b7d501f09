-- How deep in a chain of agents a task was started; null: not by an agent.
-- compatible-with: 1.0.0
ALTER TABLE "tasks" ADD COLUMN "agent_depth" SMALLINT;
