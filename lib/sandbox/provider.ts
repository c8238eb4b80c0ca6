/** Which sandbox this server uses: Vercel's when it is configured, else the one on this machine. */
import { join } from "node:path";
import { config } from "../config.ts";
import { createLocalProvider } from "./local/provider.ts";
import type { SandboxProvider } from "./sandbox.ts";
import { createVercelProvider } from "./vercel/provider.ts";

/** Modules are evaluated again by the development server; the children must not be started twice. */
const shared = globalThis as typeof globalThis & { agentSandboxProvider?: SandboxProvider };

export function sandboxProvider(): SandboxProvider {
  shared.agentSandboxProvider ??= createProvider();
  return shared.agentSandboxProvider;
}

function createProvider(): SandboxProvider {
  const settings = config();
  const allowedHosts = settings.SANDBOX_ALLOWED_HOSTS;
  const { VERCEL_TOKEN: token, VERCEL_TEAM_ID: teamId, VERCEL_PROJECT_ID: projectId } = settings;
  if (token && teamId && projectId) {
    const credentials = { token, teamId, projectId };
    return createVercelProvider({ credentials, allowedHosts, serviceOrigin: settings.PUBLIC_URL });
  }
  if (settings.VERCEL_OIDC_TOKEN) {
    return createVercelProvider({ allowedHosts, serviceOrigin: settings.PUBLIC_URL });
  }
  return createLocalProvider({
    rootDir: join(settings.DATA_DIR, "sandboxes"),
    diskQuota: settings.SANDBOX_DISK_QUOTA,
    allowedHosts,
    serviceOrigin: new URL(settings.PUBLIC_URL ?? `http://127.0.0.1:${settings.PORT}`).origin,
  });
}
