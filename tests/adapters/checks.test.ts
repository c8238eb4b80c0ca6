/** The guarantees of each external service's check to the operator. */

import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createGatewayModels } from "@platform/agent/models/gateway";
import { offerModels } from "@platform/agent/models/offer-models";
import { createOpenAiCompatibleModels } from "@platform/agent/models/openai-compatible";
import type { Checkable, Probe } from "@platform/kit/outbound/probe";
import { FalMedia } from "@platform/media/fal";
import { createVercelProvider } from "@platform/sandbox/vercel";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createWebApiCatalog } from "../../lib/catalog/adapters/web-api/provider.ts";
import { ComposioConnectors } from "../../lib/connectors/adapters/composio/provider.ts";
import { createSupabaseStorage } from "../../lib/content/storage/adapters/supabase.ts";
import { createSmtpMailer } from "../../lib/mail/adapters/smtp.ts";
import { settings as known } from "../../lib/platform/settings.ts";
import { createWebApiResearch } from "../../lib/research/adapters/web-api.ts";
import { createTriggerTaskRunner } from "../../lib/task-runs/adapters/trigger/provider.ts";
import { startFakeGateway } from "../support/fakes/ai-gateway.ts";
import { startFakeCatalog } from "../support/fakes/catalog.ts";
import { startFakeComposio } from "../support/fakes/composio.ts";
import { startFakeFal } from "../support/fakes/fal.ts";
import { startFakeOpenAI } from "../support/fakes/openai.ts";
import { startFakeResearch } from "../support/fakes/research.ts";
import { startFakeSmtp } from "../support/fakes/smtp.ts";
import { startFakeStorage } from "../support/fakes/supabase-storage.ts";
import { startFakeTrigger } from "../support/fakes/trigger.ts";
import type { serveHandlers } from "../support/fakes/vendor-server.ts";
import { startFakeVercel } from "../support/fakes/vercel-sandbox.ts";
import { probes } from "../support/fixtures/content.ts";
import { sql } from "../support/harness/stack.ts";
import { unusedDatabase } from "../support/harness/unused-database.ts";

type Vendor = Awaited<ReturnType<typeof serveHandlers>>;
interface Subject {
  readonly vendor: Vendor;
  /** The right credential. */
  readonly key: string;
  connect(key: string): Checkable;
}

const timeoutMs = 10_000;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "checks-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const subjects: Record<string, () => Promise<Subject>> = {
  async "an OpenAI-compatible server"() {
    const key = `sk-${randomUUID()}`;
    const vendor = await startFakeOpenAI(key);
    const connect = (apiKey: string) =>
      createOpenAiCompatibleModels({ baseUrl: vendor.url, apiKey, offersAuto: true });
    return { vendor, key, connect };
  },
  async "the AI Gateway"() {
    const vendor = await startFakeGateway();
    const { key, origin } = vendor;
    return { vendor, key, connect: (apiKey) => createGatewayModels({ apiKey, origin }) };
  },
  async "Vercel Sandbox"() {
    const vendor = await startFakeVercel(join(folder, "vercel"), `vcp_${randomUUID()}`);
    const { token: key, ...place } = vendor.credentials;
    const connect = (token: string) =>
      createVercelProvider({
        credentials: { ...place, token },
        allowedHosts: [],
        fetch: vendor.fetch,
      });
    return { vendor, key, connect };
  },
  async Composio() {
    const vendor = await startFakeComposio();
    const { COMPOSIO_API_KEY: key, COMPOSIO_BASE_URL: baseUrl } = vendor.env;
    return {
      vendor,
      key,
      connect: (apiKey) =>
        new ComposioConnectors({
          db: unusedDatabase,
          apiKey,
          baseUrl,
          receivesEvents: true,
          timeoutMs,
        }),
    };
  },
  async "the catalog"() {
    const vendor = await startFakeCatalog(sql);
    const connect = (clientSecret: string) =>
      createWebApiCatalog({
        clientId: vendor.env.CATALOG_CLIENT_ID,
        clientSecret,
        baseUrl: vendor.env.CATALOG_BASE_URL,
        tokenUrl: vendor.env.CATALOG_TOKEN_URL,
        timeoutMs,
      });
    return { vendor, key: vendor.env.CATALOG_CLIENT_SECRET, connect };
  },
  async research() {
    const vendor = await startFakeResearch([]);
    const { RESEARCH_API_KEY: key, RESEARCH_BASE_URL: baseUrl } = vendor.env;
    return {
      vendor,
      key,
      connect: (apiKey) => createWebApiResearch({ apiKey, baseUrl, timeoutMs }),
    };
  },
  async "Trigger.dev"() {
    const vendor = await startFakeTrigger();
    const { TRIGGER_SECRET_KEY: key, TRIGGER_API_URL: apiUrl } = vendor.env;
    return {
      vendor,
      key,
      connect: (secretKey) => createTriggerTaskRunner({ secretKey, apiUrl, startsTasks: false }),
    };
  },
  async fal() {
    const vendor = await startFakeFal();
    const { FAL_BASE_URL: baseUrl, FAL_STORAGE_URL: storageUrl } = vendor.env;
    return {
      vendor,
      key: vendor.key,
      connect: (key) => new FalMedia({ key, probes, baseUrl, storageUrl }),
    };
  },
  async "Supabase Storage"() {
    const vendor = await startFakeStorage();
    const connect = (secretKey: string) =>
      createSupabaseStorage({ url: vendor.origin, secretKey, bucket: "media" });
    return { vendor, key: vendor.secretKey, connect };
  },
};

const probesOf = async (adapter: Checkable, deadline = AbortSignal.timeout(timeoutMs)) =>
  (await adapter.check?.(deadline)) ?? [];
const outcomesOf = (probes: readonly Probe[]) => probes.map(({ outcome }) => outcome);

describe.each(Object.entries(subjects))("the check of %s", (_name, start) => {
  let subject: Subject;
  beforeAll(async () => {
    subject = await start();
  });
  afterAll(() => subject?.vendor.close());
  const probes = () => probesOf(subject.connect(subject.key));

  it("accepts the right credentials", async () => {
    const found = await probes();
    expect(found.length).toBeGreaterThan(0);
    expect(new Set(outcomesOf(found))).toEqual(new Set(["accepted"]));
  });

  it("names the settings of credentials that are rejected", async () => {
    const wrong = `wrong-${randomUUID()}`;
    const found = await probesOf(subject.connect(wrong));
    const rejected = found.filter(({ outcome }) => outcome === "credentials");
    expect(rejected.length).toBeGreaterThan(0);
    for (const { settings } of rejected) {
      expect(settings.length).toBeGreaterThan(0);
      for (const name of settings) expect(Object.keys(known.shape)).toContain(name);
    }
    expect(JSON.stringify(found)).not.toContain(wrong);
  });

  it("repeats nothing of a refusal that quotes the credential", async () => {
    const body = JSON.stringify({
      error: `The key ${subject.key} is revoked`,
      detail: subject.key,
    });
    subject.vendor.fail({ status: 403, headers: { "x-key": subject.key }, body });
    const found = await probes();
    subject.vendor.recover();
    expect(outcomesOf(found)).toContain("credentials");
    expect(JSON.stringify(found)).not.toContain(subject.key);
  });

  it("tells a web page from the service", async () => {
    subject.vendor.fail("html");
    const found = await probes();
    subject.vendor.recover();
    expect(outcomesOf(found)).not.toContain("accepted");
    expect(outcomesOf(found)).not.toContain("credentials");
  });

  it("is unreachable while the service fails, hangs up or is silent", async () => {
    for (const fault of [{ status: 503 }, "hang-up", "silence"] as const) {
      subject.vendor.fail(fault);
      const deadline = AbortSignal.timeout(fault === "silence" ? 300 : timeoutMs);
      const found = await probesOf(subject.connect(subject.key), deadline);
      subject.vendor.recover();
      expect(new Set(outcomesOf(found)), JSON.stringify(fault)).toEqual(new Set(["unreachable"]));
    }
  });

  it("is unreachable where nobody listens", async () => {
    await subject.vendor.close();
    const found = await probes();
    await subject.vendor.reopen();
    expect(new Set(outcomesOf(found))).toEqual(new Set(["unreachable"]));
  });
});

describe("the check of a mail server", () => {
  const check = (url: string, ms = timeoutMs) =>
    probesOf(createSmtpMailer({ url, from: "a@example.com", timeoutMs }), AbortSignal.timeout(ms));

  it("logs in without sending a mail, and tells a refusal from silence", async () => {
    const server = await startFakeSmtp();
    expect(outcomesOf(await check(server.url))).toEqual(["accepted"]);
    const wrong = await check(server.url.replace("secret-password", "wrong-password"));
    expect(wrong).toMatchObject([{ outcome: "credentials", settings: ["SMTP_URL"] }]);
    expect(JSON.stringify(wrong)).not.toContain("wrong-password");
    server.close();
    expect(outcomesOf(await check(server.url))).toEqual(["unreachable"]);
    expect(server.mails).toEqual([]);
  });

  it("ends at its deadline when the server never greets", async () => {
    const { createServer } = await import("node:net");
    const mute = createServer(() => {}).listen(0, "127.0.0.1");
    await new Promise((resolve) => mute.once("listening", resolve));
    const address = mute.address();
    const port = typeof address === "object" ? address?.port : 0;
    expect(outcomesOf(await check(`smtp://127.0.0.1:${port}`, 300))).toEqual(["unreachable"]);
    mute.close();
  });
});

describe("what a service lacks", () => {
  it("is a model that MODELS or DEFAULT_MODEL names", async () => {
    const server = await startFakeOpenAI();
    const models = (MODELS: string[], DEFAULT_MODEL?: string) => {
      const settings = { baseUrl: server.url, apiKey: undefined, offersAuto: true };
      return offerModels(createOpenAiCompatibleModels(settings), { MODELS, DEFAULT_MODEL });
    };
    const settingsOf = async (checked: Checkable) =>
      (await probesOf(checked))
        .filter(({ outcome }) => outcome === "missing")
        .flatMap(({ settings }) => settings);
    expect(await settingsOf(models(["fake-model", "fake-small"], "fake-small"))).toEqual([]);
    expect(await settingsOf(models(["fake-model", "gone"]))).toEqual(["MODELS"]);
    expect(await settingsOf(models([], "gone"))).toEqual(["DEFAULT_MODEL"]);
    await server.close();
  });

  it("is a bucket that anyone can read", async () => {
    const storage = await startFakeStorage();
    storage.addBucket("private", false);
    storage.addBucket("public", true);
    const { origin: url, secretKey } = storage;
    const check = (bucket: string) => probesOf(createSupabaseStorage({ url, secretKey, bucket }));
    expect(await check("private")).toMatchObject([
      { outcome: "address", settings: ["SUPABASE_URL"] },
    ]);
    expect(outcomesOf(await check("public"))).toEqual(["accepted"]);
    await storage.close();
  });
});
