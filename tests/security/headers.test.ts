/** Headers of every response, from every layer; and unknown paths. */
// Needs a build.
import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import type { RunningNext } from "../../scripts/run-next.ts";
import { expectError } from "../support/fixtures/shapes.ts";
import { client, createPerson, type Person } from "../support/harness/clients.ts";
import { openConversation } from "../support/harness/conversation.ts";
import { startServer } from "../support/harness/server.ts";
import { stack } from "../support/harness/stack.ts";

let secure: RunningNext;
let person: Person;
beforeAll(async () => {
  secure = await startServer({ env: { PUBLIC_URL: "https://platform.example" } });
  person = await createPerson(secure.url);
});
afterAll(() => secure?.stop());

interface Asked {
  readonly method?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}
interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** Sends a path as it stands: `fetch` would make another one of some. */
const ask = (path: string, { method = "GET", body, headers = {} }: Asked = {}, url = secure.url) =>
  new Promise<Answered>((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const sent = request({ hostname, port, path, method, headers }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (piece: string) => {
        text += piece;
      });
      answer.on("error", reject).on("end", () => {
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text });
      });
    });
    sent.on("error", reject).end(body);
  });

describe("every answer", () => {
  const withKey = () => ({ "x-api-key": person.key });
  const asked: [string, string, (() => Asked)?][] = [
    ["JSON", "/api/health"],
    ["JSON of an account", "/api/keys", () => ({ headers: withKey() })],
    ["a refusal", "/api/keys"],
    ["a wrong method", "/api/keys", () => ({ method: "PATCH" })],
    ["a preflight", "/api/keys", () => ({ method: "OPTIONS" })],
    ["the OpenAPI document", "/api/openapi.json"],
    ["an unknown path", "/api/nothing"],
    ["an unknown path with a slash", "/api/keys/"],
    ["an unknown path of another API", "/v1/models"],
    ["metadata that does not exist", "/.well-known/oauth-protected-resource/api/mcp"],
    ["a path that is not well-formed", "/api/keys/%FF"],
    ["media that are not there", "/api/media/00000000-0000-4000-8000-000000000000/x.png"],
    ["sign-in", "/auth/v1/settings"],
    ["the development sign-in", "/auth/developer", () => ({ method: "POST" })],
    ["the development mail", "/auth/developer/mail", () => ({ method: "POST" })],
    ["the consent page", "/connectors/consent?state=x"],
    ["the page of a link in a mail", "/delivery/confirm?token=x"],
    ["a page", "/"],
    ["a page that does not exist", "/no/such/page"],
    ["a page's redirect", "/keys/"],
    ["a path with two slashes", "/api//keys"],
    ["a page that is not well-formed", "/%FF"],
    ["the API reference", "/docs"],
    ["the image optimizer, which is off", "/_next/image?url=%2Ficon.svg&w=64&q=75"],
    ["a file that does not exist", "/_next/static/nothing.js"],
    ["an icon", "/icon.svg"],
    ["an engine's door", "/.well-known/workflow/v1/flow", () => ({ method: "POST", body: "{}" })],
  ];

  it.each(asked)("has its type taken at its word, and asks for https: %s", async (_, path, how) => {
    const answer = await ask(path, how?.());
    expect(answer.headers["x-content-type-options"]).toBe("nosniff");
    expect(answer.headers["strict-transport-security"]).toBe("max-age=31536000");
  });

  it.each(asked.filter(([, path]) => /^\/(api|auth)\/\w/.test(path)))(
    "of the API tells nobody from where one came: %s",
    async (_, path, how) => {
      expect((await ask(path, how?.())).headers["referrer-policy"]).toBe("no-referrer");
    },
  );

  it("has them as a stream, too", async () => {
    const conversation = await openConversation(person.withKey);
    const body = JSON.stringify({
      sessionId: conversation.sessionId,
      chatId: conversation.chatId,
      messages: [{ id: "m1", content: "Hello" }],
    });
    const answer = await ask("/api/chat", { method: "POST", body, headers: withKey() });
    expect(answer.headers["content-type"]).toContain("text/event-stream");
    expect(answer.headers["x-content-type-options"]).toBe("nosniff");
    expect(answer.headers["strict-transport-security"]).toBe("max-age=31536000");
  });

  it("asks nobody for https where the service has none", async () => {
    const answer = await ask("/api/health", {}, stack.url);
    expect(answer.headers["strict-transport-security"]).toBeUndefined();
    expect(answer.headers["x-content-type-options"]).toBe("nosniff");
  });
});

describe("a path that is unknown or ends with a slash", () => {
  const unknownPaths = [
    "/api/keys/",
    "/api/sessions/2f6e83b3-0000-4000-8000-000000000000/",
    "/api/nothing/",
    "/api/",
    "/api/keys/?limit=1",
    "/api/keys/%41/",
    "/v1/",
    "/v1/chat/completions",
    "/v1/%FF",
    "/.well-known",
    "/.well-known/openid-configuration",
    "/.well-known/workflows",
  ];

  it.each(["GET", "POST", "PUT", "PATCH", "DELETE"])("%s: gets a JSON 404", async (method) => {
    for (const path of unknownPaths) {
      const options = { headers: { "x-request-id": "mine" } };
      const answer = await client({ key: person.key }, secure.url).request(method, path, options);
      expectError(answer, 404, "error", "Not found", "not_found");
      expect(answer.headers.get("x-request-id")).toBe("mine");
      expect(answer.headers.get("access-control-allow-origin")).toBe("*");
      expect(answer.headers.get("location")).toBeNull();
    }
  });

  it("is an unknown path of sign-in and of the engine as well", async () => {
    for (const path of ["/auth/v1/user/", "/.well-known/workflow/v1/flow/"]) {
      expect((await ask(path)).status, path).toBe(404);
    }
  });

  it("leads to the page without it, of this origin, with its query", async () => {
    for (const [path, target] of [
      ["/keys/", "/keys"],
      ["/chat/?a=1", "/chat?a=1"],
      ["/templates/%41/", "/templates/%41"],
    ] as const) {
      const answer = await ask(path, { headers: { host: "evil.example" } });
      expect(answer.status, path).toBe(308);
      const location = String(answer.headers.location);
      expect(
        new URL(location, "http://own").pathname + new URL(location, "http://own").search,
      ).toBe(target);
      expect(location).toMatch(/^\//);
    }
  });
});

it("the image optimizer is an unknown path", async () => {
  for (const target of [
    "%2Ficon.svg",
    "%2Fapi%2Fmedia%2Fa%2Fb.png",
    "https%3A%2F%2Fa.test%2Fa.png",
  ]) {
    const answer = await ask(`/_next/image?url=${target}&w=64&q=75`);
    expect([answer.status, answer.headers["x-error-code"]]).toEqual([404, "not_found"]);
    expect(JSON.parse(answer.text)).toEqual({ status: "error", error: "Not found" });
  }
});

it("no door of the engine tells strangers which runtime it is", async () => {
  for (const door of ["flow", "step", "webhook/x"]) {
    for (const query of ["?__health", "?__health=1", "?x=1&__health", "?__%68ealth", "?__HEALTH"]) {
      for (const method of ["GET", "HEAD", "POST", "OPTIONS"]) {
        const answer = await ask(`/.well-known/workflow/v1/${door}${query}`, { method });
        const what = `${method} ${door}${query}`;
        expect([204, 404, 405], `${what}: ${answer.status}`).toContain(answer.status);
        expect(answer.text, what).not.toMatch(/healthy|version|workflow/i);
      }
    }
  }
});

// That a server with them says nothing is asked in tests/api/connectors-create.test.ts.
test("a server without the origins that a connection may send people back to warns of it", () => {
  expect(secure.logs()).toContain("CONNECTOR_CALLBACK_ORIGINS is not set");
});
