/** Which sandbox this server uses: Vercel's when it is configured, else the one on this machine. */
import { join } from "node:path";
import { type Config, config } from "../platform/config.ts";
import { serviceOrigin } from "../platform/service-origin.ts";
import { accountSpace } from "./account-space.ts";
import { createLocalProvider } from "./adapters/local/provider.ts";
import { createVercelProvider } from "./adapters/vercel/provider.ts";
import type { SandboxProvider } from "./port.ts";

/** Modules are evaluated again by the development server; the children must not be started twice. */
const shared = globalThis as typeof globalThis & { agentSandboxProvider?: SandboxProvider };

export function sandboxProvider(): SandboxProvider {
  shared.agentSandboxProvider ??= createProvider();
  return shared.agentSandboxProvider;
}

/** Which adapter the settings choose; on Vercel its own sandbox, with the deployment's identity. */
export function sandboxAdapter(): SandboxProvider["name"] {
  const settings = config();
  return tokenOf(settings) || settings.VERCEL_OIDC_TOKEN || settings.VERCEL ? "vercel" : "local";
}

function createProvider(): SandboxProvider {
  const settings = config();
  const allowedHosts = settings.SANDBOX_ALLOWED_HOSTS;
  if (sandboxAdapter() === "vercel") {
    const credentials = tokenOf(settings);
    return createVercelProvider({
      ...(credentials && { credentials }),
      allowedHosts,
      serviceOrigin: settings.PUBLIC_URL,
    });
  }
  return createLocalProvider({
    rootDir: join(settings.DATA_DIR, "sandboxes"),
    diskQuota: settings.SANDBOX_DISK_QUOTA,
    space:
      settings.ACCOUNT_SANDBOX_BYTES > 0 ? accountSpace(settings.ACCOUNT_SANDBOX_BYTES) : undefined,
    maxJails: settings.SANDBOX_COMMANDS_AT_ONCE,
    maxWaitMs: settings.SANDBOX_WAIT_MS,
    allowedHosts,
    serviceOrigin: serviceOrigin(),
  });
}

function tokenOf(settings: Config) {
  const { VERCEL_TOKEN: token, VERCEL_TEAM_ID: teamId, VERCEL_PROJECT_ID: projectId } = settings;
  return token && teamId && projectId ? { token, teamId, projectId } : undefined;
}
