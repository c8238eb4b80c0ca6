import { config } from "../platform/config.ts";
import { log } from "../platform/log.ts";

/** Logs a warning for each setting whose default is unsafe in production. */
export function warnOfSettings(): void {
  const { NODE_ENV, CONNECTOR_CALLBACK_ORIGINS } = config();
  if (NODE_ENV === "production" && CONNECTOR_CALLBACK_ORIGINS.length === 0) {
    log().warn(
      { setting: "CONNECTOR_CALLBACK_ORIGINS" },
      "CONNECTOR_CALLBACK_ORIGINS is not set: a connection may redirect people to any https origin " +
        "that its caller names. Set it to the origins of your own applications.",
    );
  }
}
