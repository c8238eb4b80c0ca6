/** Which sandbox this server uses: Vercel's when it is configured, else the one on this machine. */
import { join } from "node:path";
import { config } from "@/lib/config.ts";
import { createLocalProvider } from "./local/provider.ts";
import type { SandboxProvider } from "./sandbox.ts";

/** Modules are evaluated again by the development server; the children must not be started twice. */
const shared = globalThis as typeof globalThis & { agentSandboxProvider?: SandboxProvider };

export function sandboxProvider(): SandboxProvider {
  shared.agentSandboxProvider ??= createProvider();
  return shared.agentSandboxProvider;
}

function createProvider(): SandboxProvider {
  const { DATA_DIR, PORT, PUBLIC_URL, SANDBOX_ALLOWED_HOSTS, SANDBOX_DISK_QUOTA } = config();
  return createLocalProvider({
    rootDir: join(DATA_DIR, "sandboxes"),
    diskQuota: SANDBOX_DISK_QUOTA,
    allowedHosts: SANDBOX_ALLOWED_HOSTS,
    serviceOrigin: new URL(PUBLIC_URL ?? `http://127.0.0.1:${PORT}`).origin,
  });
}
