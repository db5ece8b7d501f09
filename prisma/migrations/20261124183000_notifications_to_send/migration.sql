-- Notifications that are not sent yet.
-- compatible-with: 1.0.0
CREATE INDEX CONCURRENTLY "notifications_to_send_idx" ON "notifications"("user_id", "created_at") WHERE "state" = 'pending';
