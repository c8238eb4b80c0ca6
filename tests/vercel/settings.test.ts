/** The requirements of a deployment on Vercel, by its settings alone. */

import { tmpdir } from "node:os";
import { afterEach, describe, expect, it } from "vitest";
import {
  createEngine,
  createMailer,
  createMediaProvider,
  createMediaStorage,
  createSandboxes,
} from "../../lib/app.ts";
import { parseConfig } from "../../lib/platform/config.ts";
import { createDatabase } from "../../lib/platform/database/create-database.ts";
import { createQueues } from "../../lib/platform/queues.ts";

const required = {
  SUPABASE_URL: "https://project.supabase.co",
  SUPABASE_SECRET_KEY: "none",
  API_KEY_SECRET: "0".repeat(32),
};
const complete = {
  ...required,
  VERCEL: "1",
  VERCEL_PROJECT_PRODUCTION_URL: "agents.example.com",
  SMTP_URL: "smtps://mail.example.com",
  MAIL_FROM: "no-reply@example.com",
};

describe("PUBLIC_URL on Vercel", () => {
  it("is by default the production deployment's", () => {
    expect(parseConfig(complete).PUBLIC_URL).toBe("https://agents.example.com");
  });

  it("is what is set", () => {
    const PUBLIC_URL = "https://api.example.com";
    expect(parseConfig({ ...complete, PUBLIC_URL }).PUBLIC_URL).toBe(PUBLIC_URL);
  });

  it("is the variable's of no other platform", () => {
    const elsewhere = { ...complete, VERCEL: "", DATABASE_URL: "postgres://127.0.0.1:1/none" };
    expect(parseConfig(elsewhere).PUBLIC_URL).toBeUndefined();
  });
});

it("names everything that is missing on Vercel, with the remedy", () => {
  expect(() => parseConfig({ ...required, VERCEL: "1" })).toThrow(
    "Settings are missing or malformed:\n" +
      "  PUBLIC_URL: must be set to the deployment's origin, unless the project exposes Vercel's system environment variables\n" +
      "  SMTP_URL: must be set on Vercel: sign-up mails codes, and there is no disk for a mailbox folder",
  );
});

it("selects no part that keeps files on the machine", async () => {
  const settings = parseConfig(complete);
  const db = createDatabase(settings);
  const created = await Promise.all([
    createEngine(db, settings),
    createMailer(settings),
    createMediaStorage(settings),
    createSandboxes(db, settings),
  ]);
  expect(created.map(({ name }) => name)).toEqual([
    "workflow:vercel",
    "smtp",
    "supabase",
    "vercel",
  ]);
});

describe("images and videos", () => {
  const project = process.cwd();
  afterEach(() => process.chdir(project));
  const queuesOf = (settings: Record<string, string>) => createQueues(parseConfig(settings));
  const contentOf = async (settings: Record<string, string>) =>
    (await createMediaProvider(parseConfig(settings), queuesOf(settings)))?.name ?? "none";

  it("are made by nobody where neither a vendor is set nor the renderer is installed", async () => {
    process.chdir(tmpdir());
    expect(await contentOf(complete)).toBe("none");
    expect(await contentOf({ ...complete, FAL_KEY: "key" })).toBe("fal");
  });
});
