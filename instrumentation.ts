/** Next calls this once in each server process, before the first request. */
export async function register(): Promise<void> {
  if (process.env.NEXT_RUNTIME !== "nodejs") return;
  const { checkSettings } = await import("./lib/health/check-settings.ts");
  checkSettings(process.env);
  const { config } = await import("./lib/platform/config.ts");
  const settings = config();
  const flushTelemetry =
    settings.OTEL_EXPORTER_OTLP_ENDPOINT &&
    (await import("./lib/platform/telemetry/sdk.ts")).startTelemetry(settings);
  // Its metric says from the start that the process is there.
  (await import("./lib/turns/running-turns.ts")).runningTurns();
  const { markPeers } = await import("./lib/http/mark-peer.ts");
  markPeers();
  const { secureResponses } = await import("./lib/http/secure-responses.ts");
  secureResponses();
  const { dropStalledReaders } = await import("./lib/http/drop-stalled-readers.ts");
  dropStalledReaders();
  const { startApp } = await import("./lib/app.ts");
  const { engine } = await startApp(settings);
  const { checkStart } = await import("./lib/health/check-start.ts");
  await checkStart(process.env);
  await engine.start();
  const { drain } = await import("./lib/platform/drain.ts");
  drain().add(async (deadline) => {
    await engine.drain(deadline);
    if (flushTelemetry) await flushTelemetry();
  });
  const { scheduleTasks } = await import("./lib/schedules/fire-tasks.ts");
  scheduleTasks();
  const { scheduleRetention } = await import("./lib/retention/schedule.ts");
  scheduleRetention();
  const { scheduleQueuedTurns } = await import("./lib/turns/unblock-queued-turn.ts");
  scheduleQueuedTurns();
  const { scheduleDeliveries } = await import("./lib/webhooks/delivery-worker.ts");
  scheduleDeliveries();
}
