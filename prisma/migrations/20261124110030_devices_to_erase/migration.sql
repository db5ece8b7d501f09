-- Removed devices with something left in them: nearly always none.
-- compatible-with: 1.0.0
CREATE INDEX CONCURRENTLY "devices_to_erase_idx" ON "devices"("id") WHERE "removed_at" IS NOT NULL AND ("name" <> '' OR "hostname" <> '');
