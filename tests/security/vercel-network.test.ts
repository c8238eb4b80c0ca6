/** The addresses of the service's origin that a sandbox on Vercel may reach, by the requested policy. */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createVercelProvider } from "@platform/sandbox/vercel";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { type FakeVercel, startFakeVercel } from "../support/fakes/vercel-sandbox.ts";

let folder: string;
let vercel: FakeVercel;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "vercel-network-"));
  vercel = await startFakeVercel(folder);
});
afterAll(async () => {
  await vercel.close();
  await rm(folder, { recursive: true, force: true });
});

const rule = z.strictObject({
  match: z
    .strictObject({
      path: z.union([
        z.strictObject({ startsWith: z.string() }),
        z.strictObject({ regex: z.string() }),
      ]),
    })
    .optional(),
  transform: z.array(z.object({ headers: z.record(z.string(), z.string()) })).optional(),
  response: z.object({ statusCode: z.int() }).optional(),
});
const policy = z.object({ allow: z.record(z.string(), z.array(rule)) });

/** As the SDK documents it: the first rule that matches decides; without one, the request passes. */
function judge(rules: readonly z.output<typeof rule>[], path: string): "passed on" | number {
  const decides = rules.find(({ match }) => {
    if (match === undefined) return true;
    if ("startsWith" in match.path) return path.startsWith(match.path.startsWith);
    // RE2 writes flags into the expression.
    return new RegExp(match.path.regex.replace(/^\(\?i\)/, ""), "i").test(path);
  });
  return decides?.response?.statusCode ?? "passed on";
}

async function ownRules(allowedHosts: readonly string[]) {
  const provider = createVercelProvider({
    credentials: { token: "token", teamId: "team", projectId: "project" },
    allowedHosts,
    serviceOrigin: "https://api.example.com",
    fetch: vercel.fetch,
  });
  const { name } = await provider.provision(randomUUID(), randomUUID());
  return policy.parse(vercel.networkPolicyOf(name)).allow["api.example.com"] ?? [];
}

it.each([
  "/api/chat",
  "/api/sessions?limit=1",
  "/api/agents/templates/.well",
  "/api/catalog/search?q=a..b",
])("passes %s on, marked as a request from a sandbox", async (path) => {
  const rules = await ownRules([]);
  expect(judge(rules, path)).toBe("passed on");
  const marks = rules.flatMap(({ transform = [] }) => transform.map(({ headers }) => headers));
  expect(marks).toEqual([{ forwarded: "for=_sandbox", "x-agent-sandbox": "1" }]);
});

it.each([
  "/",
  "/chat",
  "/auth/v1/otp",
  "/apix",
  "//api/keys",
  "/.well-known/workflow/v1/flow",
  "/api/../.well-known/workflow/v1/flow",
  "/api/..%2f.well-known/workflow/v1/flow",
  "/api/%2E%2e/auth/v1/otp",
  "/api%2f..%2fauth/v1/otp",
  "/api/..\\auth/v1/otp",
  "/api/..",
  "/api/./../auth/v1/otp",
])("refuses %s, even if the operator lists the service's own host", async (path) => {
  expect(judge(await ownRules([]), path)).toBe(403);
  expect(judge(await ownRules(["api.example.com"]), path)).toBe(403);
});
