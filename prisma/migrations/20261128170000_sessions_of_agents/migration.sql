-- The sign-in of the agent that started a session; null: a person or the machine started it.
-- compatible-with: 1.0.0
ALTER TABLE "sessions" ADD COLUMN "started_by" TEXT;
