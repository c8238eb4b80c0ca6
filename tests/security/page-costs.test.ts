/** Pages that anyone may ask for are rendered once, and counted by address. */
// Needs a build.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PAGE_FOLDERS } from "../../lib/http/guard-page.ts";
import type { RunningNext } from "../../scripts/run-next.ts";
import { startServer } from "../support/harness/server.ts";
import { stack } from "../support/harness/stack.ts";

let limited: RunningNext;
beforeAll(async () => {
  limited = await startServer({ env: { ANONYMOUS_RATE_LIMIT: "1" } });
});
afterAll(() => limited?.stop());

test("the folders of pages are those of the console", () => {
  const entries = readdirSync(join(import.meta.dirname, "../../app/(console)"), {
    withFileTypes: true,
  });
  const folders = entries.filter((entry) => entry.isDirectory() && /^[a-z]/.test(entry.name));
  expect(folders.map(({ name }) => name).sort()).toEqual([...PAGE_FOLDERS].sort());
});

const open = async (path: string, headers: Record<string, string> = {}) => {
  const response = await fetch(stack.url + path, { headers });
  return { response, text: await response.text() };
};

test.each([
  ["/docs/quickstart", 200],
  ["/no/such/page", 404],
  ["/wp-login.php?a=1", 404],
])("%s is the same page each time, but for the nonce of its own policy", async (path, status) => {
  const pages = [await open(path), await open(path)];
  const withoutNonces = pages.map(({ response, text }) => {
    expect(response.status).toBe(status);
    expect(response.headers.get("content-type")).toContain("text/html");
    expect(response.headers.get("x-frame-options")).toBe("DENY");
    const policy = response.headers.get("content-security-policy") ?? "";
    const nonce = /'nonce-([^']+)'/.exec(policy)?.[1] ?? "";
    expect(text).toContain(`nonce="${nonce}"`);
    expect(text.match(/<script(?![^>]*nonce=)/g)).toBeNull();
    return { nonce, text: text.replaceAll(nonce, "") };
  });
  expect(withoutNonces[0]?.nonce).not.toBe(withoutNonces[1]?.nonce);
  expect(withoutNonces[0]?.text).toBe(withoutNonces[1]?.text);
});

test("a cached page has its icon", async () => {
  const href = /<link rel="icon" href="([^"]+\.svg[^"]*)"/.exec((await open("/docs")).text)?.[1];
  const { response } = await open(href ?? "");
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "image/svg+xml"]);
});

test("a cached page has the theme of its reader", async () => {
  await open("/docs");
  expect((await open("/docs", { cookie: "theme=dark" })).text).toMatch(/<html[^>]* dark"/);
  expect((await open("/docs")).text).not.toMatch(/<html[^>]* dark"/);
});

test("pages of one address are limited, and those of another one are not affected", async () => {
  const from = (address: string, path = "/docs") =>
    fetch(limited.url + path, { headers: { "x-forwarded-for": address } });
  const statuses = [];
  for (let index = 0; index < 6; index++) {
    statuses.push((await from("203.0.113.200", `/no-page-${index}`)).status);
  }
  expect(statuses).toEqual([404, 404, 404, 404, 404, 429]);
  const refused = await from("203.0.113.200", "/");
  expect(refused.headers.get("retry-after")).toMatch(/^\d+$/);
  expect((await from("203.0.113.201")).status).toBe(200);
});
