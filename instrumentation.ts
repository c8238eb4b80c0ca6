/** Next calls this once in each server process, before the first request. */
export async function register(): Promise<void> {
  if (process.env.NEXT_RUNTIME !== "nodejs") return;
  const { checkSettings } = await import("./lib/health/check-settings.ts");
  checkSettings(process.env);
  const { config } = await import("./lib/platform/config.ts");
  const settings = config();
  const { routeConsole } = await import("./lib/platform/route-console.ts");
  routeConsole();
  const flushTelemetry =
    settings.OTEL_EXPORTER_OTLP_ENDPOINT &&
    (await import("./lib/platform/telemetry/sdk.ts")).startTelemetry(settings);
  const { dropStalledReaders, markRequests } = await import("@platform/endpoint/server-hooks");
  markRequests(settings.PUBLIC_URL?.startsWith("https:") ?? false);
  dropStalledReaders();
  const { startApp } = await import("./lib/app.ts");
  const app = await startApp(settings);
  const { checkStart } = await import("./lib/health/diagnose.ts");
  await checkStart(app);
  await app.engine.start();
  const { observeParts } = await import("./lib/health/check-parts.ts");
  observeParts(app);
  const { drain } = await import("@platform/kit/drain");
  drain().add(async (deadline) => {
    await app.engine.drain(deadline);
    if (flushTelemetry) await flushTelemetry();
  });
  drain().add(async (_deadline, served) => {
    await served;
    await app.requestLog.flush();
  });
  const { scheduleTasks } = await import("./lib/tasks/fire-tasks.ts");
  scheduleTasks(app);
  const { scheduleRetention } = await import("./lib/retention/run-retention.ts");
  scheduleRetention(app);
  const { scheduleQueuedTurns } = await import("./lib/turns/start-workflow.ts");
  scheduleQueuedTurns(app);
  const { scheduleDeliveries } = await import("./lib/webhooks/webhook-worker.ts");
  scheduleDeliveries(app);
  const { scheduleMails } = await import("./lib/delivery/mail-worker.ts");
  scheduleMails(app);
  const { scheduleConsolidations } = await import("./lib/memory/worker.ts");
  scheduleConsolidations(app);
}
