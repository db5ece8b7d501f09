-- Tokens with which ACP clients reach one device.
-- compatible-with: 1.0.0
-- CreateTable
CREATE TABLE "acp_tokens" (
    "id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "device_id" TEXT NOT NULL,
    "token_hash" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "scopes" TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "used_at" TIMESTAMPTZ(3),
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "acp_tokens_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "acp_tokens_token_hash_key" ON "acp_tokens"("token_hash");

-- CreateIndex
CREATE INDEX "acp_tokens_user_id_idx" ON "acp_tokens"("user_id");

-- CreateIndex
CREATE INDEX "acp_tokens_device_id_idx" ON "acp_tokens"("device_id");
