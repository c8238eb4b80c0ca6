/** Every page of a server has the page policy, whatever the path; folders without pages have none. */
// Needs a build.
import { request } from "node:http";
import { describe, expect, it } from "vitest";
import { stack } from "../support/harness/stack.ts";

interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** Sends a path as it stands, as a person's browser that is signed in: `fetch` would make another one of some. */
const ask = (path: string, method = "GET") =>
  new Promise<Answered>((resolve, reject) => {
    const { hostname, port } = new URL(stack.url);
    const headers = { accept: "text/html", cookie: "signed-in=1" };
    const sent = request({ hostname, port, path, method, headers }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (piece: string) => {
        text += piece;
      });
      answer.on("error", reject).on("end", () => {
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text });
      });
    });
    sent.on("error", reject).end();
  });

/** Folders without pages. */
const FOLDERS = [
  "/_next",
  "/_next/static",
  "/_next/data",
  "/auth",
  "/auth/developer",
  "/delivery",
  "/delivery/confirm",
  "/connectors/consent",
  "/.well-known",
  "/.well-known/workflow",
  "/.well-known/workflow/v1",
  "/.well-known/workflow/v1/flow",
  "/v1",
  "/api",
  "/api/connectors",
];
/** The endings of a path. */
const ENDS = [
  "/x",
  "/x/y",
  "/x.html",
  "/index.html",
  "/x?y=1",
  "/x;y",
  "/%78",
  "/x%20y",
  "/%E2%80%AE",
  "/chat",
  "/x.",
  "/-",
];
/** Like them, and yet below the pages. */
const PAGES = [
  "/connectors/consentx",
  "/connectors/consent%2fx",
  "/apix",
  "/authx",
  "/auth%2fx",
  "/%61uth/x",
  "/Auth/x",
  "/AUTH/V1/x",
  "/deliveryx",
  "/Delivery/x",
  "/_nextx",
  "/_next%2fx",
  "/%5fnext/x",
  "/_Next/x",
  "/.well-knownx",
  "/%2ewell-known/x",
  "/v1x",
  "/V1/x",
  "/no/such/page",
  "/404",
  "/500",
  "/_error",
  "/_not-found",
  "/index",
  "/index.html",
  "/share/x",
  "/chat/x/y",
  "/runs/x",
  "/dev/mail",
  "/docs/nothing",
];

/** The API has methods that it does not allow, and Next answers for the data of a page with the page. */
const WITHOUT_PAGES = FOLDERS.filter((folder) => !/^\/(?:api|_next\/data)/.test(folder));
const allPaths = [...FOLDERS.flatMap((folder) => ENDS.map((end) => folder + end)), ...PAGES, "/"];

describe("a path", () => {
  it("has the policy of pages where it is answered with one", async () => {
    expect(allPaths.length).toBeGreaterThan(200);
    let pages = 0;
    for (const path of allPaths) {
      const { headers } = await ask(path);
      if (!String(headers["content-type"]).startsWith("text/html")) continue;
      pages++;
      expect(headers["content-security-policy"], path).toContain("frame-ancestors 'none'");
      expect(headers["content-security-policy"], path).toContain("default-src 'none'");
      expect(headers["x-frame-options"], path).toBe("DENY");
      expect(headers["cross-origin-opener-policy"], path).toBe("same-origin");
    }
    // Most of the others are pages that do not exist.
    expect(pages).toBeGreaterThan(PAGES.length / 2);
  });

  it.each(WITHOUT_PAGES)(
    "below %s that does not exist is no page, but a JSON 404",
    async (folder) => {
      for (const end of ENDS) {
        const { status, headers, text } = await ask(folder + end);
        expect(`${folder + end} ${status}`).toBe(`${folder + end} 404`);
        expect(headers["content-type"], folder + end).toMatch(/^application\/json/);
        expect(JSON.parse(text), folder + end).toMatchObject({ error: "Not found" });
      }
    },
  );

  it.each([
    "/connectors/consent?state=x",
    "/delivery/confirm?token=x",
    "/delivery/unsubscribe?token=x",
  ])("of a route with a page of its own forbids frames, too: %s", async (path) => {
    const { headers } = await ask(path);
    expect(headers["content-type"]).toMatch(/^text\/html/);
    expect(headers["content-security-policy"]).toContain("frame-ancestors 'none'");
  });

  it.each(["POST", "PUT", "DELETE", "PATCH"])("has it for a %s, too", async (method) => {
    for (const path of ["/", "/chat", "/no/such/page", "/connectors/consentx"]) {
      const { headers } = await ask(path, method);
      if (!String(headers["content-type"]).startsWith("text/html")) continue;
      expect(headers["content-security-policy"], path).toContain("frame-ancestors 'none'");
    }
  });
});
