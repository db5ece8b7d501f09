-- AlterTable
ALTER TABLE "prompts" ADD COLUMN     "answered_on" TEXT;

-- AlterTable
ALTER TABLE "subscriptions" ADD COLUMN     "actions" TEXT NOT NULL DEFAULT 'none',
ADD COLUMN     "client" TEXT,
ADD COLUMN     "login" TEXT;

-- CreateIndex
CREATE INDEX "subscriptions_login_idx" ON "subscriptions"("login");
