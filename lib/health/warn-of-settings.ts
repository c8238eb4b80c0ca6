import { config } from "../platform/config.ts";
import { log } from "../platform/log.ts";

/** Logs one line for each setting that works as it is and should not stay so in production. */
export function warnOfSettings(): void {
  const { NODE_ENV, CONNECTOR_CALLBACK_ORIGINS } = config();
  if (NODE_ENV === "production" && CONNECTOR_CALLBACK_ORIGINS.length === 0) {
    log().warn(
      { setting: "CONNECTOR_CALLBACK_ORIGINS" },
      "CONNECTOR_CALLBACK_ORIGINS is not set: a connection may send people back to any https " +
        "origin that its caller names. Set it to the origins of your own applications.",
    );
  }
}
