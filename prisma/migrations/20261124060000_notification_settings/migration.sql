-- AlterTable
ALTER TABLE "deliveries" ADD COLUMN     "after_id" TEXT,
ADD COLUMN     "digest_id" TEXT,
ADD COLUMN     "held_for" TEXT;

-- AlterTable
ALTER TABLE "sessions" ADD COLUMN     "notify" TEXT;

-- AlterTable
ALTER TABLE "subscriptions" ADD COLUMN     "delay_seconds" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "group_name" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "installation" TEXT,
ADD COLUMN     "levels" JSONB NOT NULL DEFAULT '{}';

-- CreateTable
CREATE TABLE "notification_settings" (
    "user_id" TEXT NOT NULL,
    "levels" JSONB NOT NULL DEFAULT '{}',
    "quiet" JSONB,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "notification_settings_pkey" PRIMARY KEY ("user_id")
);

-- CreateIndex
CREATE INDEX "deliveries_after_id_idx" ON "deliveries"("after_id");

-- CreateIndex
CREATE INDEX "deliveries_digest_id_idx" ON "deliveries"("digest_id");

-- Causes that an address did not hear of stay off there.
UPDATE "subscriptions" SET "levels" = (
    SELECT COALESCE(jsonb_object_agg(c, 'off'), '{}') FROM unnest(ARRAY['needs_you', 'failed', 'done']) AS c WHERE NOT c = ANY ("causes")
);
