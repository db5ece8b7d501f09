-- The program that has a session open on its machine, as its daemon reported last; null: none, or not known.
-- compatible-with: 1.0.0
ALTER TABLE "sessions" ADD COLUMN "held" JSONB;
