-- "sessions_pinned_idx" replaces it.
-- compatible-with: 1.0.0
DROP INDEX "sessions_owner_id_pinned_at_idx";
