/** The event types of webhooks. SQL queues them (supabase/schemas/85_webhooks.sql). */
export const EVENT_TYPES = [
  "run.completed",
  "run.failed",
  "run.cancelled",
  "generation.completed",
  "generation.failed",
  "budget.warning",
] as const;
