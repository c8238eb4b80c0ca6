import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createGatewayModels } from "@platform/agent/models/gateway";
import { offerModels } from "@platform/agent/models/offer-models";
import { createVercelProvider } from "@platform/sandbox/vercel";
import { createApp } from "../../lib/app.ts";
import { checkParsing } from "../../lib/health/check-settings.ts";
import { diagnose } from "../../lib/health/diagnose.ts";
import { exerciseVendors } from "../../lib/health/exercise-vendors.ts";
import type { Finding } from "../../lib/health/finding.ts";
import { type Config, parseConfig } from "../../lib/platform/config.ts";
import { startFakeGateway } from "../support/fakes/ai-gateway.ts";
import { startFakeCatalog } from "../support/fakes/catalog.ts";
import { startFakeComposio } from "../support/fakes/composio.ts";
import { startFakeFal } from "../support/fakes/fal.ts";
import { startIdentityProvider } from "../support/fakes/identity-provider.ts";
import { startFakeOpenAI } from "../support/fakes/openai.ts";
import { startFakeResearch } from "../support/fakes/research.ts";
import { startFakeSmtp } from "../support/fakes/smtp.ts";
import { startFakeTrigger } from "../support/fakes/trigger.ts";
import { startFakeVercel } from "../support/fakes/vercel-sandbox.ts";
import { startHostedProject } from "../support/harness/hosted-project.ts";
import { sql, stack } from "../support/harness/stack.ts";

export type Changes = Readonly<Record<string, string | undefined>>;
export type Installation = Awaited<ReturnType<typeof startInstallation>>;

/** The settings of an installation that has every service, each of them on loopback. */
export async function startInstallation() {
  const folder = await mkdtemp(join(tmpdir(), "doctor-"));
  const openAiKey = `sk-${randomUUID()}`;
  const smtp = await startFakeSmtp();
  const vendors = {
    project: await startHostedProject(),
    composio: await startFakeComposio(),
    catalog: await startFakeCatalog(sql),
    fal: await startFakeFal(),
    openAi: await startFakeOpenAI(openAiKey),
    research: await startFakeResearch([{ id: "a1", name: "Daft Punk", tracks: 3 }]),
    trigger: await startFakeTrigger(),
    vercel: await startFakeVercel(join(folder, "vercel"), `vcp_${randomUUID()}`),
    provider: await startIdentityProvider(),
    gateway: await startFakeGateway(),
  };
  const { project, composio, catalog, fal, openAi, research, trigger, vercel, gateway } = vendors;
  const env: Changes = {
    ...stack.env,
    ...project.env,
    ...composio.env,
    ...catalog.env,
    ...fal.env,
    ...research.env,
    ...trigger.env,
    OPENAI_BASE_URL: openAi.url,
    OPENAI_API_KEY: openAiKey,
    MODELS: "fake-model,fake-small",
    DEFAULT_MODEL: "fake-small",
    SMTP_URL: smtp.url,
    MAIL_FROM: "Platform <platform@example.com>",
    VERCEL_TOKEN: vercel.credentials.token,
    VERCEL_TEAM_ID: vercel.credentials.teamId,
    VERCEL_PROJECT_ID: vercel.credentials.projectId,
    HOST: "127.0.0.1",
    PUBLIC_URL: "https://api.example.com",
    CONNECTOR_CALLBACK_ORIGINS: "https://app.example.com",
  };

  const start = async (settings: Config) => {
    const services = await createApp(settings);
    // The addresses of these two are not settings.
    const replace = (name: string, value: unknown) =>
      Object.defineProperty(services, name, { value });
    const credentials = { ...vercel.credentials, token: settings.VERCEL_TOKEN ?? "" };
    replace(
      "sandboxes",
      createVercelProvider({ credentials, allowedHosts: [], fetch: vercel.fetch }),
    );
    const { AI_GATEWAY_API_KEY: apiKey } = settings;
    if (apiKey) {
      const models = createGatewayModels({ apiKey, origin: gateway.origin });
      replace("models", offerModels({ ...models, list: async () => null }, settings));
    }
    return services;
  };

  return {
    ...vendors,
    smtp,
    openAiKey,
    /** Checks the installation with these settings changed; undefined removes one. */
    async examine(changes: Changes): Promise<readonly Finding[]> {
      const changed = { ...env, ...changes };
      const malformed = checkParsing(changed);
      if (malformed.length > 0) return malformed;
      const settings = parseConfig(changed);
      const options = { timeoutMs: 5_000, asksServices: true };
      return diagnose(settings, await start(settings), options);
    },
    /** Uses each vendor once, with these settings changed. */
    use: async (changes: Changes) =>
      exerciseVendors(await start(parseConfig({ ...env, ...changes })), 30_000),
    async stop() {
      smtp.close();
      for (const vendor of Object.values(vendors)) await vendor.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
