/** With each single setting broken in turn, the check of the installation names it and its remedy. */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Finding } from "../../lib/health/finding.ts";
import { SCHEMA_VERSION } from "../../lib/platform/database/schema-version.ts";
import { settings as known } from "../../lib/platform/settings.ts";
import { builtIn, type Script } from "../support/fakes/openai.ts";
import { setting, stack } from "../support/harness/stack.ts";
import { type Changes, type Installation, startInstallation } from "./installation.ts";

// Adapters read some settings where they are used.
for (const [name, value] of Object.entries(stack.env)) vi.stubEnv(name, value);

let all: Installation;
beforeAll(async () => {
  all = await startInstallation();
});
afterAll(() => all?.stop());

/** The defects of the installation, without the limitations of its machine. */
const faults = (found: readonly Finding[]) =>
  found.filter(({ check, status }) => status !== "ok" && !["isolation", "files"].includes(check));

const NOWHERE = "http://127.0.0.1:1";

it("finds nothing wrong with an installation that has every service", async () => {
  const found = await all.examine({});
  expect(faults(found)).toEqual([]);
  const checks = found.map(({ check }) => check);
  for (const check of ["database", "migrations", "connection", "identity", "model"]) {
    expect(checks).toContain(check);
  }
});

describe("a malformed setting", () => {
  const nonsense = "\u0001 no % value";
  const parsed = Object.entries(known.shape).filter(
    ([, schema]) => !schema.safeParse(nonsense).success,
  );

  it("can be most of them", () => expect(parsed.length).toBeGreaterThan(45));

  it.each(parsed)("%s is named, with what it should be", async (name, schema) => {
    const found = await all.examine({ [name]: nonsense });
    expect(JSON.stringify(found)).not.toContain("no % value");
    const naming = found.find(({ settings }) => settings?.includes(name));
    expect(naming).toMatchObject({ status: "failed", blocksStart: true });
    expect(naming?.detail).toContain(`${name}: `);
    expect(naming?.remedy).toContain(schema.meta()?.description ?? "Correct or remove it.");
  });

  const required = ["SUPABASE_URL", "SUPABASE_SECRET_KEY", "API_KEY_SECRET", "DATABASE_URL"];
  const together = ["MAIL_FROM", "CATALOG_CLIENT_SECRET"];
  it.each([...required, ...together])("%s is named when it is missing", async (name) => {
    const [found] = await all.examine({ [name]: undefined });
    expect(found).toMatchObject({ settings: [name], blocksStart: true });
    expect(found?.remedy).toContain("Set it");
  });
});

const url = (text: string, changes: Partial<URL>): string =>
  Object.assign(new URL(text), changes).href;
const database = (changes: Partial<URL>) => () => url(setting("DATABASE_URL"), changes);

/** [setting, how it is wrong, its value, whether a server refuses to start]. */
const wrong: [string, string, () => string, boolean][] = [
  ["SUPABASE_URL", "where nobody listens", () => NOWHERE, false],
  ["SUPABASE_URL", "of another service", () => all.composio.origin, true],
  ["SUPABASE_SECRET_KEY", "of another project", () => "sb_secret_of_another_project", true],
  ["SUPABASE_SECRET_KEY", "the public one", () => setting("SUPABASE_PUBLISHABLE_KEY"), true],
  ["SUPABASE_PUBLISHABLE_KEY", "of another project", () => "sb_publishable_other", true],
  ["SUPABASE_JWT_ISSUER", "another", () => "https://other.example.com/auth/v1", true],
  ["DATABASE_URL", "where nobody listens", database({ port: "1" }), false],
  ["DATABASE_URL", "with a wrong password", database({ password: "x" }), true],
  ["DATABASE_URL", "of no database", database({ pathname: "/none" }), true],
  ["DATABASE_URL", "of another database", database({ pathname: "/template1" }), true],
  [
    "DATABASE_URL",
    "of a pooler in transaction mode",
    () => "postgres://postgres.x:y@aws-0-eu-central-1.pooler.supabase.com:6543/postgres",
    true,
  ],
  ["WORKFLOW_TARGET_WORLD", "not installed", () => "@workflow/world-nowhere", true],
  ["AI_GATEWAY_API_KEY", "revoked", () => "vck_revoked", true],
  ["OPENAI_BASE_URL", "where nobody listens", () => `${NOWHERE}/v1`, false],
  ["OPENAI_BASE_URL", "without its path", () => all.openAi.origin, true],
  ["OPENAI_API_KEY", "revoked", () => "sk-revoked", true],
  ["MODELS", "of another provider", () => "fake-model,gpt-9", false],
  ["DEFAULT_MODEL", "of another provider", () => "gpt-9", false],
  ["VERCEL_TOKEN", "revoked", () => "revoked-token", true],
  ["SMTP_URL", "where nobody listens", () => "smtp://127.0.0.1:1", false],
  ["SMTP_URL", "with a wrong password", () => url(all.smtp.url, { password: "x" }), true],
  ["COMPOSIO_API_KEY", "revoked", () => "revoked-key", true],
  ["COMPOSIO_BASE_URL", "where nobody listens", () => NOWHERE, false],
  ["CATALOG_CLIENT_ID", "of nobody", () => "nobody", true],
  ["CATALOG_CLIENT_SECRET", "revoked", () => "revoked-secret", true],
  ["CATALOG_TOKEN_URL", "where nobody listens", () => NOWHERE, false],
  ["CATALOG_TOKEN_URL", "of another service", () => all.composio.origin, true],
  ["CATALOG_BASE_URL", "without its path", () => all.catalog.origin, true],
  ["RESEARCH_API_KEY", "revoked", () => "revoked-key", true],
  ["RESEARCH_BASE_URL", "without its path", () => all.research.origin, true],
  ["TRIGGER_SECRET_KEY", "revoked", () => "tr_prod_revoked", true],
  ["TRIGGER_API_URL", "where nobody listens", () => NOWHERE, false],
  ["FAL_KEY", "revoked", () => "revoked-key", true],
  ["FAL_BASE_URL", "where nobody listens", () => NOWHERE, false],
  ["FAL_STORAGE_URL", "where nobody listens", () => NOWHERE, false],
];

describe("a wrong setting is named, with a remedy", () => {
  it.each(wrong)("%s %s", async (name, _how, value, blocksStart) => {
    const found = await all.examine({ [name]: value() });
    const naming = found.filter(
      ({ status, settings }) => status === "failed" && settings?.includes(name),
    );
    expect(naming.length, JSON.stringify(found, null, 2)).toBeGreaterThan(0);
    expect(naming.some((finding) => finding.blocksStart === true)).toBe(blocksStart);
    for (const { remedy } of naming) expect(remedy).toMatch(/^[A-Z].*\.$/);
    const secret = String(value());
    if (/revoked|secret/.test(secret)) expect(JSON.stringify(found)).not.toContain(secret);
  });

  it("DATA_DIR that cannot be written to", async () => {
    const changes = { DATA_DIR: "/dev/null/data", SMTP_URL: undefined, MAIL_FROM: undefined };
    expect(await all.examine(changes)).toContainEqual(
      expect.objectContaining({ check: "data", settings: ["DATA_DIR"], blocksStart: true }),
    );
  });

  const oidc = () => all.provider.env;

  it("OIDC_ISSUER", async () => {
    const identity = async (changes: Changes) =>
      (await all.examine({ ...oidc(), ...changes })).filter(({ check }) => check === "identity");
    expect(await identity({})).toMatchObject([{ status: "ok" }]);
    for (const [name, value] of [
      ["OIDC_ISSUER", `${all.provider.issuer}/`],
      ["OIDC_ISSUER", NOWHERE],
    ] as const) {
      const failed = faults(await identity({ [name]: value }));
      expect(failed).toMatchObject([{ status: "failed", settings: [name] }]);
    }
  });

  it("SUPABASE_JWT_SECRET, where the project signs with keys that it publishes or lacks it", async () => {
    const failed = async (changes: Changes) => faults(await all.examine(changes));
    expect(await failed({ SUPABASE_JWT_SECRET: undefined })).toMatchObject([
      { check: "identity", settings: ["SUPABASE_JWT_SECRET"], blocksStart: true },
    ]);
    all.project.auth.keys = [JSON.parse(all.provider.publicKey())];
    expect(await failed({ SUPABASE_JWT_SECRET: undefined })).toEqual([]);
    expect(await failed({})).toMatchObject([
      { settings: ["SUPABASE_JWT_SECRET"], remedy: "Remove SUPABASE_JWT_SECRET." },
    ]);
    all.project.auth.keys = [];
  });

  it("a project that does not confirm addresses", async () => {
    all.project.auth.mailer_autoconfirm = true;
    const found = await all.examine({});
    all.project.auth.mailer_autoconfirm = false;
    expect(faults(found)).toMatchObject([
      { check: "identity", settings: ["SUPABASE_URL"], blocksStart: true },
    ]);
  });
});

describe("a setting that is unsafe or lacks is a warning", () => {
  const warnings: [string, Changes][] = [
    ["CONNECTOR_CALLBACK_ORIGINS", { CONNECTOR_CALLBACK_ORIGINS: undefined }],
    ["PUBLIC_URL", { PUBLIC_URL: "http://api.example.com" }],
    ["PUBLIC_URL", { PUBLIC_URL: "http://localhost:3000", HOST: "0.0.0.0" }],
    ["TRUSTED_PROXIES", { TRUSTED_PROXIES: undefined }],
    ["COMPOSIO_API_KEY", { COMPOSIO_API_KEY: undefined }],
  ];
  it.each(warnings)("%s, as in %o", async (name, changes) => {
    const found = (await all.examine(changes)).filter(({ settings }) => settings?.includes(name));
    expect(found.map(({ status }) => status)).toContain("warning");
    for (const { remedy } of found) expect(remedy).toMatch(/^[A-Z].*\.$/);
  });
});

describe("the database", () => {
  const told = {
    installation_id: "00000000-0000-4000-8000-000000000000",
    newest_migration: SCHEMA_VERSION,
  };
  const telling = async (fault: object, status = 200) => {
    all.project.failNext("describe_database", { status, body: JSON.stringify(fault) });
    return all.examine({});
  };
  const only = (found: readonly Finding[], check: string) =>
    found.filter((finding) => finding.check === check);

  it("without the newest migration keeps a server from starting", async () => {
    const older = await telling({ ...told, newest_migration: "20261121000001" });
    expect(only(older, "migrations")).toMatchObject([{ status: "failed", blocksStart: true }]);
    expect(only(older, "migrations")[0]?.remedy).toContain("supabase db push");
    const unknown = await telling(
      { code: "PGRST202", message: "Could not find the function" },
      404,
    );
    expect(only(unknown, "migrations")).toMatchObject([{ status: "failed", blocksStart: true }]);
  });

  it("with newer migrations, or none that are recorded, is a warning", async () => {
    for (const newest_migration of ["99991231000000", null]) {
      const found = await telling({ ...told, newest_migration });
      expect(only(found, "migrations")).toMatchObject([{ status: "warning" }]);
    }
  });
});

describe("a deep check", () => {
  const DEEP = ["model tools", "connectors list", "catalog list", "research list"];

  it("uses each vendor once, and finds nothing wrong", async () => {
    const before = all.openAi.calls.length;
    const found = await all.use({ DEFAULT_MODEL: "fake-groq" });
    expect(faults(found), JSON.stringify(found)).toEqual([]);
    expect(found.map(({ check }) => check)).toEqual([
      ...DEEP,
      "taskRunner list",
      "sandbox command",
    ]);
    const calls = all.openAi.calls.slice(before);
    expect(calls.map(({ tools, step }) => [...tools, step])).toEqual([
      ["read_code", 0],
      ["read_code", 1],
    ]);
  });

  it("leaves out what is embedded, but for the sandbox of this machine", async () => {
    const vendors = ["OPENAI_BASE_URL", "COMPOSIO_API_KEY", "CATALOG_CLIENT_ID"];
    const more = ["CATALOG_CLIENT_SECRET", "RESEARCH_API_KEY", "TRIGGER_SECRET_KEY"];
    const without = Object.fromEntries([...vendors, ...more].map((name) => [name, undefined]));
    const found = await all.use({ ...without, MODELS: undefined, DEFAULT_MODEL: undefined });
    expect(found).toMatchObject([{ check: "sandbox command", status: "ok" }]);
  });

  const answers: [string, Script, string, string][] = [
    ["no call", () => [{ text: "The code is 1234." }], "failed", "answers without the tool"],
    [
      "no result",
      ({ step }) => (step === 0 ? [{ tool: "read_code", input: {} }] : [{ text: "Done." }]),
      "warning",
      "does not repeat its result",
    ],
    [
      "a refusal of the result",
      ({ step }) =>
        step === 0
          ? [{ tool: "read_code", input: {} }]
          : [{ fail: 400, message: "property reasoning_content of sk-secret is not supported" }],
      "failed",
      "request with the tool's result fails",
    ],
    ["a rejected key", () => [{ fail: 401, message: "sk-secret" }], "failed", "(status 401)"],
    ["a model that calls for ever", () => [{ tool: "read_code", input: {} }], "warning", "result"],
    ["a broken stream", () => [{ text: "x" }, { cut: true }], "failed", "first request fails"],
  ];
  it.each(answers)("names a model with %s", async (_, script, status, detail) => {
    all.openAi.script("", script);
    const found = await all.use({});
    all.openAi.script("", builtIn);
    const [model, ...others] = found;
    expect(model).toMatchObject({ check: "model tools", status });
    expect(model?.detail).toContain(detail);
    expect(model?.remedy).toMatch(/^[A-Z].*\.$/);
    expect(JSON.stringify(found)).not.toContain("sk-secret");
    expect(faults(others)).toEqual([]);
  });

  it("names vendors that fail, hang up or have nothing, and repeats nothing of them", async () => {
    for (const vendor of [all.composio, all.catalog, all.research, all.trigger]) {
      vendor.fail({ status: 500, body: JSON.stringify({ error: "sk-secret" }) });
    }
    all.vercel.fail("hang-up");
    const found = await all.use({});
    for (const vendor of [all.composio, all.catalog, all.research, all.trigger, all.vercel]) {
      vendor.recover();
    }
    const failures = found.filter(({ status }) => status === "failed");
    const names = failures.map(({ check }) => check);
    expect(names).toEqual([...DEEP.slice(1), "taskRunner list", "sandbox command"]);
    for (const { remedy } of failures) expect(remedy).toMatch(/^[A-Z].*\.$/);
    expect(JSON.stringify(found)).not.toContain("sk-secret");
  });

  it("is a warning where a list is empty that should not be", async () => {
    all.composio.fail({ status: 200, body: JSON.stringify({ items: [] }) }, "/tools");
    const found = await all.use({});
    all.composio.recover();
    expect(faults(found)).toMatchObject([{ check: "connectors list", status: "warning" }]);
  });
});
