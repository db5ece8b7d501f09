-- CreateTable
CREATE TABLE "devices" (
    "id" TEXT NOT NULL,
    "owner_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "hostname" TEXT NOT NULL,
    "agent_type" TEXT NOT NULL,
    "token_hash" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'offline',
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "connection_fence" BIGINT NOT NULL DEFAULT 0,
    "report_hash" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "revoked_at" TIMESTAMPTZ(3),
    "removed_at" TIMESTAMPTZ(3),

    CONSTRAINT "devices_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "device_codes" (
    "code_hash" TEXT NOT NULL,
    "user_code" TEXT NOT NULL,
    "hostname" TEXT NOT NULL,
    "agent_type" TEXT NOT NULL,
    "device_name" TEXT NOT NULL,
    "requested_from" TEXT NOT NULL,
    "bound_to" TEXT,
    "state" TEXT NOT NULL DEFAULT 'pending',
    "decided_by" TEXT,
    "device_id" TEXT NOT NULL,
    "token_salt" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "polled_at" TIMESTAMPTZ(3),
    "redeemed_at" TIMESTAMPTZ(3),

    CONSTRAINT "device_codes_pkey" PRIMARY KEY ("code_hash")
);

-- CreateTable
CREATE TABLE "device_connections" (
    "id" TEXT NOT NULL,
    "device_id" TEXT NOT NULL,
    "fence" BIGINT NOT NULL,
    "daemon_version" TEXT NOT NULL DEFAULT '',
    "instance" TEXT NOT NULL,
    "connected_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "disconnected_at" TIMESTAMPTZ(3),
    "close_code" INTEGER,
    "reason" TEXT,

    CONSTRAINT "device_connections_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "sessions" (
    "key" TEXT NOT NULL,
    "owner_id" TEXT NOT NULL,
    "device_id" TEXT NOT NULL,
    "agent_type" TEXT NOT NULL,
    "native_id" TEXT NOT NULL,
    "placeholder" BOOLEAN NOT NULL DEFAULT false,
    "title" TEXT NOT NULL DEFAULT '',
    "title_source" TEXT NOT NULL DEFAULT 'message',
    "project_path" TEXT NOT NULL DEFAULT '',
    "file_path" TEXT NOT NULL DEFAULT '',
    "status" TEXT NOT NULL DEFAULT 'idle',
    "last_message" TEXT NOT NULL DEFAULT '',
    "message_count" INTEGER NOT NULL DEFAULT 0,
    "progress" JSONB,
    "prompt" JSONB,
    "prompt_seq" BIGINT NOT NULL DEFAULT 0,
    "queue_held" BOOLEAN NOT NULL DEFAULT false,
    "archived" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "sessions_pkey" PRIMARY KEY ("key")
);

-- CreateTable
CREATE TABLE "session_aliases" (
    "device_id" TEXT NOT NULL,
    "agent_type" TEXT NOT NULL,
    "native_id" TEXT NOT NULL,
    "session_key" TEXT NOT NULL,

    CONSTRAINT "session_aliases_pkey" PRIMARY KEY ("device_id","agent_type","native_id")
);

-- CreateTable
CREATE TABLE "tasks" (
    "id" TEXT NOT NULL,
    "seq" BIGSERIAL NOT NULL,
    "session_key" TEXT NOT NULL,
    "device_id" TEXT NOT NULL,
    "owner_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'queued',
    "instruction" TEXT NOT NULL,
    "fence" BIGINT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "sent_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),
    "result" TEXT,
    "error_code" TEXT,
    "error_text" TEXT,

    CONSTRAINT "tasks_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "watched_sessions" (
    "user_id" TEXT NOT NULL,
    "session_key" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "watched_sessions_pkey" PRIMARY KEY ("user_id","session_key")
);

-- CreateTable
CREATE TABLE "idempotency_keys" (
    "user_id" TEXT NOT NULL,
    "route" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "body_hash" TEXT NOT NULL,
    "status" INTEGER NOT NULL,
    "response" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("user_id","route","key")
);

-- CreateTable
CREATE TABLE "notifications" (
    "id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "session_key" TEXT NOT NULL,
    "session_id" TEXT NOT NULL,
    "task_id" TEXT,
    "cause" TEXT NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'pending',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "claimed_at" TIMESTAMPTZ(3),
    "sent_at" TIMESTAMPTZ(3),

    CONSTRAINT "notifications_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "devices_owner_id_created_at_idx" ON "devices"("owner_id", "created_at");

-- CreateIndex
CREATE INDEX "devices_status_last_seen_at_idx" ON "devices"("status", "last_seen_at");

-- CreateIndex
CREATE UNIQUE INDEX "device_codes_user_code_key" ON "device_codes"("user_code");

-- CreateIndex
CREATE INDEX "device_codes_expires_at_idx" ON "device_codes"("expires_at");

-- CreateIndex
CREATE INDEX "device_connections_device_id_connected_at_idx" ON "device_connections"("device_id", "connected_at");

-- CreateIndex
CREATE INDEX "sessions_owner_id_updated_at_key_idx" ON "sessions"("owner_id", "updated_at" DESC, "key" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "sessions_device_id_agent_type_native_id_key" ON "sessions"("device_id", "agent_type", "native_id");

-- CreateIndex
CREATE INDEX "session_aliases_session_key_idx" ON "session_aliases"("session_key");

-- CreateIndex
CREATE UNIQUE INDEX "tasks_seq_key" ON "tasks"("seq");

-- CreateIndex
CREATE INDEX "tasks_session_key_seq_idx" ON "tasks"("session_key", "seq");

-- CreateIndex
CREATE INDEX "tasks_device_id_state_idx" ON "tasks"("device_id", "state");

-- CreateIndex
CREATE INDEX "tasks_state_expires_at_idx" ON "tasks"("state", "expires_at");

-- CreateIndex
CREATE INDEX "watched_sessions_session_key_idx" ON "watched_sessions"("session_key");

-- CreateIndex
CREATE INDEX "idempotency_keys_created_at_idx" ON "idempotency_keys"("created_at");

-- CreateIndex
CREATE INDEX "notifications_user_id_created_at_id_idx" ON "notifications"("user_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "notifications_state_created_at_idx" ON "notifications"("state", "created_at");

-- CreateIndex
CREATE INDEX "notifications_session_key_created_at_idx" ON "notifications"("session_key", "created_at");

-- AddForeignKey
ALTER TABLE "device_connections" ADD CONSTRAINT "device_connections_device_id_fkey" FOREIGN KEY ("device_id") REFERENCES "devices"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_device_id_fkey" FOREIGN KEY ("device_id") REFERENCES "devices"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "session_aliases" ADD CONSTRAINT "session_aliases_session_key_fkey" FOREIGN KEY ("session_key") REFERENCES "sessions"("key") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "tasks" ADD CONSTRAINT "tasks_session_key_fkey" FOREIGN KEY ("session_key") REFERENCES "sessions"("key") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "watched_sessions" ADD CONSTRAINT "watched_sessions_session_key_fkey" FOREIGN KEY ("session_key") REFERENCES "sessions"("key") ON DELETE CASCADE ON UPDATE CASCADE;


