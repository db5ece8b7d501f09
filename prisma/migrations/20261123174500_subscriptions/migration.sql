-- CreateTable
CREATE TABLE "subscriptions" (
    "id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "address_hash" TEXT NOT NULL,
    "sealed" TEXT NOT NULL,
    "label" TEXT NOT NULL,
    "address" TEXT NOT NULL,
    "causes" TEXT[],
    "detail" TEXT NOT NULL DEFAULT 'none',
    "paused" BOOLEAN NOT NULL DEFAULT false,
    "verified" BOOLEAN NOT NULL DEFAULT false,
    "reason" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "failing_since" TIMESTAMPTZ(3),

    CONSTRAINT "subscriptions_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "deliveries" (
    "id" TEXT NOT NULL,
    "notification_id" TEXT,
    "subscription_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "cause" TEXT NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'pending',
    "reason" TEXT,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "http_status" INTEGER,
    "maybe_duplicate" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "next_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "claimed_by" TEXT,
    "claimed_at" TIMESTAMPTZ(3),
    "accepted_at" TIMESTAMPTZ(3),

    CONSTRAINT "deliveries_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "server_keys" (
    "purpose" TEXT NOT NULL,
    "public_key" TEXT NOT NULL,
    "sealed" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "server_keys_pkey" PRIMARY KEY ("purpose")
);

-- CreateIndex
CREATE INDEX "subscriptions_address_hash_idx" ON "subscriptions"("address_hash");

-- CreateIndex
CREATE UNIQUE INDEX "subscriptions_user_id_address_hash_key" ON "subscriptions"("user_id", "address_hash");

-- CreateIndex
CREATE INDEX "deliveries_state_user_id_next_at_idx" ON "deliveries"("state", "user_id", "next_at");

-- CreateIndex
CREATE INDEX "deliveries_state_expires_at_idx" ON "deliveries"("state", "expires_at");

-- CreateIndex
CREATE INDEX "deliveries_subscription_id_state_next_at_idx" ON "deliveries"("subscription_id", "state", "next_at");

-- CreateIndex
CREATE INDEX "deliveries_subscription_id_created_at_idx" ON "deliveries"("subscription_id", "created_at" DESC);

-- CreateIndex
CREATE INDEX "deliveries_created_at_idx" ON "deliveries"("created_at");

-- CreateIndex
CREATE INDEX "deliveries_user_id_idx" ON "deliveries"("user_id");

-- CreateIndex
CREATE UNIQUE INDEX "deliveries_notification_id_subscription_id_key" ON "deliveries"("notification_id", "subscription_id");

