-- Deleted sessions with something left in them: nearly always none.
-- compatible-with: 1.0.0
CREATE INDEX CONCURRENTLY "sessions_to_erase_idx" ON "sessions"("key") WHERE "deleted_at" IS NOT NULL AND ("native_id" NOT LIKE 'DELETED-%' OR "title" <> '' OR "last_message" <> '' OR "prompt" IS NOT NULL OR "progress" IS NOT NULL OR "project_path" <> '' OR "file_path" <> '');
