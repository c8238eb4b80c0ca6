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
  const { dropStalledReaders, markRequests } = await import("./lib/http/server-hooks.ts");
  markRequests();
  dropStalledReaders();
  const { startApp } = await import("./lib/app.ts");
  const { engine } = await startApp(settings);
  const { checkStart } = await import("./lib/health/diagnose.ts");
  await checkStart();
  await engine.start();
  const { drain } = await import("./lib/platform/drain.ts");
  drain().add(async (deadline) => {
    await engine.drain(deadline);
    if (flushTelemetry) await flushTelemetry();
  });
  const { scheduleTasks } = await import("./lib/schedules/fire-tasks.ts");
  scheduleTasks();
  const { scheduleRetention } = await import("./lib/retention/run-retention.ts");
  scheduleRetention();
  const { scheduleQueuedTurns } = await import("./lib/turns/start-workflow.ts");
  scheduleQueuedTurns();
  const { scheduleDeliveries } = await import("./lib/webhooks/delivery-worker.ts");
  scheduleDeliveries();
}
