/** Next calls this once in each server process, before the first request. */
export async function register(): Promise<void> {
  if (process.env.NEXT_RUNTIME !== "nodejs") return;
  const { markPeers } = await import("./lib/http/mark-peer.ts");
  markPeers();
  const { reportIsolation } = await import("./lib/platform/isolation/detect.ts");
  reportIsolation();
  const { secureResponses } = await import("./lib/http/secure-responses.ts");
  secureResponses();
  const { warnOfSettings } = await import("./lib/health/warn-of-settings.ts");
  warnOfSettings();
  const { services } = await import("./lib/platform/services.ts");
  await services().engine.start();
  const { drain } = await import("./lib/platform/drain.ts");
  drain().add((deadline) => services().engine.drain(deadline));
  const { scheduleRetention } = await import("./lib/retention/schedule.ts");
  scheduleRetention();
}
