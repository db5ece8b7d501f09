-- CreateTable
CREATE TABLE "audit_entries" (
    "id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "action" TEXT NOT NULL,
    "outcome" TEXT NOT NULL,
    "program" TEXT,
    "address" TEXT,
    "target" TEXT,
    "question" TEXT,
    "digest" TEXT,
    "request_id" TEXT,

    CONSTRAINT "audit_entries_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "audit_entries_user_id_at_id_idx" ON "audit_entries"("user_id", "at", "id");

-- CreateIndex
CREATE INDEX "audit_entries_at_idx" ON "audit_entries"("at");
