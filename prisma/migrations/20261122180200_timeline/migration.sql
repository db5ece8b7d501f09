-- CreateTable
CREATE TABLE "timeline" (
    "id" INTEGER NOT NULL,
    "value" BIGINT NOT NULL,
    "raised_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "timeline_pkey" PRIMARY KEY ("id")
);
