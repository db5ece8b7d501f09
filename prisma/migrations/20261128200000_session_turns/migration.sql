-- The turns that the only process of a relay remembers.
-- compatible-with: 1.0.0
-- CreateTable
CREATE TABLE "session_turns" (
    "session_key" TEXT NOT NULL,
    "turn" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "session_turns_pkey" PRIMARY KEY ("session_key")
);

-- CreateIndex
CREATE INDEX "session_turns_expires_at_idx" ON "session_turns"("expires_at");

-- AddForeignKey
ALTER TABLE "session_turns" ADD CONSTRAINT "session_turns_session_key_fkey" FOREIGN KEY ("session_key") REFERENCES "sessions"("key") ON DELETE CASCADE ON UPDATE CASCADE;
