-- The usage limit that the last turn of a session reached, and until when it holds the queue (ADR 92).
-- compatible-with: 1.0.0
ALTER TABLE "sessions" ADD COLUMN "usage_limit" JSONB, ADD COLUMN "held_until" TIMESTAMPTZ(3);
