/** The services that a deployment on Vercel needs, on loopback, and its environment. */
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SignJWT } from "jose";
import { nextEnv } from "../../scripts/run-next.ts";
import { runProgram } from "../../scripts/run-program.ts";
import { startFakeComposio } from "../support/fakes/composio.ts";
import { startFakeFal } from "../support/fakes/fal.ts";
import { startFakeSmtp } from "../support/fakes/smtp.ts";
import { startFakeStorage } from "../support/fakes/supabase-storage.ts";
import { startFakeVercel } from "../support/fakes/vercel-sandbox.ts";
import { startFakeWorkflow } from "../support/fakes/vercel-workflow.ts";
import { deployFunctions } from "../support/harness/functions.ts";
import { setting } from "../support/harness/stack.ts";
import { registerSecret } from "../support/secrets/register.ts";

export const DIST_DIR = ".next-vercel";

/** Builds as Vercel does, and records the functions. */
export async function buildForVercel(): Promise<void> {
  const env = {
    VERCEL: "1",
    NEXT_DIST_DIR: DIST_DIR,
    NEXT_ADAPTER_PATH: join(import.meta.dirname, "adapter.ts"),
  };
  const code = await runProgram(
    ["node_modules/next/dist/bin/next", "build"],
    nextEnv(env, "build"),
  );
  if (code !== 0) throw new Error(`next build failed (${code}).`);
}

export type Hosting = Awaited<ReturnType<typeof startHosting>>;

/** Starts everything that a deployment reaches, and deploys with and without a provider of media. */
export async function startHosting() {
  const dataDir = await mkdtemp(join(tmpdir(), "agent-platform-hosting-"));
  const storage = await startFakeStorage({
    url: setting("SUPABASE_URL"),
    secretKey: setting("SUPABASE_SECRET_KEY"),
    publishableKey: setting("SUPABASE_PUBLISHABLE_KEY"),
  });
  const smtp = await startFakeSmtp();
  const fal = await startFakeFal();
  const composio = await startFakeComposio();
  const sandboxes = join(dataDir, "sandboxes");
  const vercel = await startFakeVercel(sandboxes);
  const workflow = await startFakeWorkflow(join(dataDir, "workflow"), (path, init) =>
    fetch(deployment.url + path, init),
  );
  const identity = { owner_id: "team_test", project_id: "prj_test", sub: "owner:test" };
  const token = await new SignJWT(identity)
    .setProtectedHeader({ alg: "HS256" })
    .setExpirationTime("1 day")
    .sign(new TextEncoder().encode("a key of Vercel's that nobody else has"));
  registerSecret(token, "Vercel's token");

  const supabase = Object.fromEntries(
    [
      ...["SUPABASE_SECRET_KEY", "SUPABASE_PUBLISHABLE_KEY", "SUPABASE_JWT_SECRET"],
      ...["SUPABASE_JWT_ISSUER", "API_KEY_SECRET", "DATABASE_URL"],
    ].map((name) => [name, setting(name)]),
  );
  const env = {
    PATH: process.env.PATH ?? "",
    NODE_ENV: "production",
    VERCEL: "1",
    VERCEL_ENV: "production",
    VERCEL_REGION: "iad1",
    VERCEL_PROJECT_ID: "prj_test",
    VERCEL_DEPLOYMENT_ID: "dpl_test",
    // The key with which the SDK encrypts stored data.
    VERCEL_DEPLOYMENT_KEY: registerSecret(randomBytes(32).toString("base64"), "deployment key"),
    VERCEL_URL: "agents-test.vercel.app",
    VERCEL_PROJECT_PRODUCTION_URL: "agents.example.com",
    VERCEL_OIDC_TOKEN: token,
    VERCEL_WORKFLOW_SERVER_URL: workflow.origin,
    ...supabase,
    SUPABASE_URL: storage.origin,
    SMTP_URL: smtp.url,
    MAIL_FROM: "Agents <no-reply@example.com>",
    // Writing there fails.
    DATA_DIR: "/dev/null/data",
    CHECK_RESPONSES: "true",
    LOG_LEVEL: "warn",
    CRON_SECRET: "cron-secret-of-the-tests",
    TEST_CONSTANTS: '{"RETENTION_INTERVAL_SECONDS":0,"TASK_INTERVAL_SECONDS":0}',
    ADDRESS_RATE_LIMIT: "0",
    ANONYMOUS_RATE_LIMIT: "0",
    SIGNUP_RATE_LIMIT: "0",
    LOOPBACK_URLS: "media,webhooks",
  };
  const redirects = {
    "https://iad1.vercel-queue.com": workflow.origin,
    "https://vercel.com": vercel.origin,
  };
  const deployment = await deployFunctions({
    distDir: DIST_DIR,
    env: { ...env, ...fal.env, ...composio.env },
    redirects,
  });
  const bare = await deployFunctions({ distDir: DIST_DIR, env, redirects });
  return {
    ...{ deployment, bare, storage, smtp, fal, composio },
    /** The folder of the fake that stands for a session's machine. */
    machineOf: (sessionId: string) => join(sandboxes, sessionId, "vercel", "sandbox"),
    async close() {
      await deployment.close();
      await bare.close();
      await workflow.close();
      await vercel.close();
      await Promise.all([fal.close(), composio.close(), storage.close()]);
      smtp.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
