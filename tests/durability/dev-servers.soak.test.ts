import { execFileSync } from "node:child_process";
import { request } from "node:http";
import { afterEach, expect, test, vi } from "vitest";
import { endCopies, interrupt, newFolder, npmRun } from "../adapters/supabase/copies.ts";
import { familyOf, stillRunning } from "../adapters/supabase/processes.ts";
import { client } from "../support/harness/clients.ts";

// Every endpoint is compiled when it is first asked, twice at once.
vi.setConfig({ testTimeout: 400_000, hookTimeout: 60_000 });

afterEach(endCopies);

function changedFiles(): string {
  return execFileSync("git", ["status", "--porcelain"], { encoding: "utf8" });
}

test("two development servers run from one folder, leave it unchanged and end with Ctrl-C", async () => {
  const before = changedFiles();
  const copies = await Promise.all([npmRun("dev", newFolder()), npmRun("dev", newFolder())]);
  const keys = await Promise.all(copies.map((copy) => copy.key()));
  for (const [i, copy] of copies.entries()) {
    const key = keys[i] ?? "";
    const answer = await fetch(`${copy.url}/api/sessions`, { headers: { "x-api-key": key } });
    expect(answer.status).toBe(200);
  }
  expect(changedFiles()).toBe(before);

  const families = copies.flatMap((copy) => familyOf(copy.npm.pid ?? 0));
  for (const copy of copies) interrupt(copy);
  await Promise.all(copies.map((copy) => copy.exit));
  await vi.waitFor(() => expect(stillRunning(families)).toEqual([]), { timeout: 15_000 });
});

test("one click signs the development account in and one page shows its mail, for this machine only", async () => {
  const copy = await npmRun("dev", newFolder());
  await copy.key();
  const { origin, port } = new URL(copy.url);
  const click = (headers: Record<string, string>) =>
    fetch(`${copy.url}/auth/developer`, { method: "POST", headers });
  const answer = await click({ origin });
  expect(answer.status).toBe(200);
  const { access_token } = await answer.json();
  const headers = { authorization: `Bearer ${access_token}` };
  expect((await fetch(`${copy.url}/api/sessions`, { headers })).status).toBe(200);

  expect((await click({})).status).toBe(403);
  expect((await click({ origin: "https://evil.example" })).status).toBe(403);
  expect((await click({ origin, "sec-fetch-site": "cross-site" })).status).toBe(403);
  const evil = `evil.example:${port}`;
  expect(await postWithHost(`${copy.url}/auth/developer`, evil)).toBe(403);

  const email = "maya@label.example";
  await fetch(`${copy.url}/api/agents/signup`, { method: "POST", body: JSON.stringify({ email }) });
  const inbox = (headers: Record<string, string>) =>
    fetch(`${copy.url}/auth/developer/mail`, { method: "POST", headers });
  const { mails } = await (await inbox({ origin })).json();
  expect(mails).toEqual([
    expect.objectContaining({ to: email, text: expect.stringMatching(/\d{6}/) }),
  ]);
  expect((await inbox({})).status).toBe(403);
  expect((await inbox({ origin: "https://evil.example" })).status).toBe(403);
  expect((await inbox({ origin, "sec-fetch-site": "cross-site" })).status).toBe(403);
  expect(await postWithHost(`${copy.url}/auth/developer/mail`, evil)).toBe(403);
});

test("its pages are there, and a path with a slash at its end is unknown or led to the page", async () => {
  const copy = await npmRun("dev", newFolder());
  const key = await copy.key();
  const output = copy.output();
  const [, address = ""] = /open (\S+) and continue as developer@example\.com/.exec(output) ?? [];
  expect((await fetch(address)).status).toBe(200);
  const [, inbox = ""] = /^Mail: +(\S+?),/m.exec(output) ?? [];
  expect((await fetch(inbox)).status).toBe(200);
  for (const path of ["/api/keys/", "/api/nothing/", "/api/", "/api/keys/?limit=1"]) {
    const answer = await client({ key }, copy.url).request("GET", path);
    expect(answer.status, path).toBe(404);
    expect(answer.body, path).toEqual({ status: "error", error: "Not found" });
  }
  const page = await fetch(`${copy.url}/keys/`, { redirect: "manual" });
  expect(page.status).toBe(308);
  expect(page.headers.get("location")).toBe("/keys");
});

/** A page whose name was pointed at this machine names itself in `Host` and `Origin`. */
function postWithHost(url: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const headers = { host, origin: `http://${host}` };
    const asked = request(url, { method: "POST", headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    asked.on("error", reject);
    asked.end();
  });
}
