/** Checks this machine: a folder that can be written to, and isolation. */
import { access, constants, mkdir } from "node:fs/promises";
import type { App } from "../app.ts";
import type { Config } from "../platform/config.ts";
import { isolation } from "../platform/isolation/isolation.ts";
import { codeOf } from "../platform/outbound/probe.ts";
import { runtimePath } from "../platform/runtime-path.ts";
import { type Finding, misconfigured, ok, warning } from "./finding.ts";

/** Checks `DATA_DIR` where this installation stores something there, and the isolation. */
export async function checkHost(
  { DATA_DIR, EMBEDDED_SUPABASE }: Config,
  { sandboxes, mail, media, engine }: App,
): Promise<Finding[]> {
  const storesFiles =
    EMBEDDED_SUPABASE ||
    sandboxes.folders !== undefined ||
    mail.name === "mailbox" ||
    media.name === "disk" ||
    engine.name === "workflow:local";
  return [...(storesFiles ? [await checkFolder(runtimePath(DATA_DIR))] : []), checkIsolation()];
}

async function checkFolder(folder: string): Promise<Finding> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return ok("data", "DATA_DIR can be written to");
  } catch (error) {
    const detail = `DATA_DIR cannot be written to (${codeOf(error) ?? "unknown error"})`;
    const remedy = "Set DATA_DIR to a folder that the user of the server may write to.";
    return misconfigured("data", detail, remedy, ["DATA_DIR"]);
  }
}

function checkIsolation(): Finding {
  const found = isolation();
  if (found.kind === "namespaces") {
    return ok("isolation", "media decoders and sandboxes run isolated");
  }
  return warning(
    "isolation",
    found.kind === "user"
      ? "media decoders run as another user, but see the file system"
      : "media decoders run as this server's user and could read its secrets if taken over",
    `Install or allow what this host lacks: ${found.missing}.`,
  );
}
