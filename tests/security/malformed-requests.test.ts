/**
 * Malformed requests to every endpoint. This file is long because it is one list of ways in which a
 * request can be wrong, applied to every contract.
 *
 * One function reads the requests of all endpoints: packages/endpoint/tests/read-body.test.ts has every way in which
 * a body can be wrong. An endpoint is asked only what shows that it is read by that function.
 */
// Needs a build.
import { randomUUID } from "node:crypto";
import { request as httpRequest } from "node:http";
import { gzipSync } from "node:zlib";
import type { Contract } from "@platform/endpoint/contract/contract";
import { validator } from "@platform/endpoint/read-input";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { contracts } from "../../lib/openapi/registry.ts";
import {
  expectError,
  expectErrorShape,
  fillPath,
  nameOf,
  sentenceOf,
} from "../support/fixtures/shapes.ts";
import { type Answer, client, createPerson, type Person } from "../support/harness/clients.ts";
import { stack } from "../support/harness/stack.ts";

let person: Person;
beforeAll(async () => {
  person = await createPerson();
});

const withBody = contracts.filter(({ body }) => body !== undefined);
const withQuery = contracts.filter(({ query }) => query instanceof z.ZodObject);
const withParams = contracts.filter(({ params }) => params !== undefined);
const named = (list: readonly Contract[]) =>
  list.map((contract) => [nameOf(contract), contract] as const);

/** Refused or even taken, but never broken, and when refused in the family's shape. */
function expectSane(answer: Answer, contract: Contract, what: string): void {
  expect(answer.status, `${what}: ${answer.text.slice(0, 200)}`).toBeLessThan(500);
  if (answer.status >= 400) expectErrorShape(answer, contract.family);
}

function send(contract: Contract, body: string, headers: Record<string, string> = {}) {
  const path = fillPath(contract.path, {});
  return person.withKey.request(contract.method, path, { body, headers });
}

describe.each(named(withBody))("%s refuses", (_, contract) => {
  it("what is no JSON object, text that is none, and what is too large", async () => {
    for (const [body, sentence] of [
      ['{"a":', "Invalid JSON body"],
      ["[]", "Request body must be a JSON object"],
      ['{"a":["\\u0000"]}', "Unicode"],
    ] as const) {
      const answer = await send(contract, body);
      expect(answer.status, body).toBe(400);
      expectErrorShape(answer, contract.family);
      expect(sentenceOf(answer)).toContain(sentence);
    }
    const large = JSON.stringify({ a: "x".repeat(contract.bodyLimit ?? 1024 * 1024) });
    const answer = await send(contract, large);
    expect(answer.status).toBe(413);
    expectErrorShape(answer, contract.family);
  });
});

it("a body without an end is refused while it is sent", async () => {
  for (const contract of withBody.slice(0, 1)) {
    expect(await sendEndless(contract, contract.bodyLimit ?? 1024 * 1024)).toBe(413);
  }
});

const encoded = (text: string) => (text.startsWith("%") ? text : encodeURIComponent(text));

describe.each(named(withQuery))("%s survives hostile query parameters", (_, contract) => {
  it("of any text, repeated, empty or long", async () => {
    if (!(contract.query instanceof z.ZodObject)) return;
    const path = fillPath(contract.path, {});
    for (const field of Object.keys(contract.query.shape)) {
      const queries = [
        ...["", "-1", "99999999999999999999", "%00", "a'b\"c;--"].map(
          (text) => `${field}=${encoded(text)}`,
        ),
        `${field}=1&${field}=2`,
        `__proto__=1&${field}[__proto__]=1`,
      ];
      for (const query of queries) {
        const answer = await person.withKey.request(contract.method, `${path}?${query}`);
        expectSane(answer, contract, query.slice(0, 60));
      }
    }
  });
});

describe.each(named(withParams))("%s survives hostile path parameters", (_, contract) => {
  it("of any text for an id", async () => {
    for (const text of ["-1", "%00", "\u{1F600}", "a'b\"c;--"]) {
      const path = fillPath(contract.path, {}, () => encoded(text));
      const answer = await person.withKey.request(contract.method, path, {
        ...(contract.body ? { body: {} } : {}),
      });
      expect(answer.status, `${text}: ${answer.text.slice(0, 200)}`).toBeGreaterThanOrEqual(400);
      expectSane(answer, contract, text);
    }
  });
});

/** Its parameters that only a UUID can be, in the order of the path. */
const uuidParams = ({ path, params }: Contract): string[] => {
  if (!(params instanceof z.ZodObject)) return [];
  const { shape } = params;
  const takes = (name: string, id: string) => z.safeParse(shape[name], id).success;
  return [...path.matchAll(/\{(\w+)\}/g)]
    .map(([, name = ""]) => name)
    .filter((name) => takes(name, randomUUID()) && !takes(name, "42"));
};

describe("an id in a path that is no UUID", () => {
  const withIds = withParams.filter((contract) => uuidParams(contract).length > 0);
  it.each(named(withIds))("%s names the first", async (_, contract) => {
    const names = uuidParams(contract);
    for (const [index, first] of names.entries()) {
      const wrong = Object.fromEntries(names.slice(index).map((name) => [name, "42"]));
      const path = fillPath(contract.path, wrong);
      const answer = await person.withKey.request(contract.method, path, {
        ...(contract.body ? { body: {} } : {}),
      });
      expectError(answer, 400, contract.family, `${first} must be a valid UUID`);
      if (contract.family === "missing")
        expect(answer.body).toMatchObject({ missing_fields: expect.arrayContaining([first]) });
    }
  });
});

describe("a path that cannot be decoded", () => {
  it.each(["/api/keys/%FF", "/api/keys/%ED%A0%80", "/api/%", "/api/nothing/%zz/x"])(
    "%s answers JSON 400",
    async (path) => {
      const answer = await person.withKey.get(path);
      expect(answer.status).toBe(400);
      expectErrorShape(answer, "error");
      expect(answer.headers.get("x-error-code")).toBe("invalid_request");
    },
  );
});

describe("unknown paths", () => {
  it.each(["/api", "/api/", "/api/nothing", "/api/keys/1/2/3", "/api/KEYS", "/api/%00"])(
    "%s answers JSON 404 or leads to it",
    async (path) => {
      expectError(await client().get(path), 404, "error", "Not found");
    },
  );
});

describe("the request id", () => {
  it.each([
    ["visible ASCII is kept", "req_42/a.b~c", true],
    ["128 characters are kept", "x".repeat(128), true],
    ["129 are replaced", "x".repeat(129), false],
    ["spaces are replaced", "a b", false],
    ["other letters are replaced", "\u00e9", false],
  ])("%s", async (_, id, kept) => {
    for (const path of ["/api/health", "/api/keys", "/api/nothing"]) {
      const { headers } = await client().get(path, { headers: { "x-request-id": id } });
      if (kept) expect(headers.get("x-request-id")).toBe(id);
      else expect(headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    }
  });
});

describe("CORS", () => {
  it("lets any origin read any answer, and names what a browser may send", async () => {
    const preflight = await client().request("OPTIONS", "/api/keys", {
      headers: { origin: "https://example.com", "access-control-request-method": "POST" },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-origin")).toBe("*");
    expect(preflight.headers.get("access-control-allow-credentials")).toBeNull();
    expect(preflight.headers.get("access-control-max-age")).toBeTruthy();
    expect(preflight.headers.get("access-control-allow-methods")).toContain("POST");
    for (const name of [
      ...["authorization", "x-api-key", "idempotency-key", "last-event-id", "prefer"],
      ...["if-none-match", "traceparent", "mcp-protocol-version", "mcp-session-id"],
    ]) {
      expect(preflight.headers.get("access-control-allow-headers")).toContain(name);
    }
    const answer = await client().get("/api/keys", { headers: { origin: "https://example.com" } });
    for (const name of ["x-workflow-run-id", "etag", "www-authenticate", "x-ignored-fields"]) {
      expect(answer.headers.get("access-control-expose-headers")).toContain(name);
    }
  });
});

/** Chunked and without an end: the answer has to come while the body is still being sent. */
function sendEndless(contract: Contract, limit: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(stack.url + fillPath(contract.path, {}), {
      method: contract.method,
      headers: { ...person.withKey.headers, "transfer-encoding": "chunked" },
    });
    const piece = Buffer.alloc(256 * 1024, 0x20);
    let sent = 0;
    const more = () => {
      // Far more than any buffer on the way; a server that reads to the end never gets here.
      while (sent < limit * 8) {
        sent += piece.length;
        if (!request.write(piece)) return;
      }
    };
    request.on("drain", more);
    request.on("response", (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
      request.destroy();
    });
    request.on("error", reject);
    more();
  });
}

describe("validation of a great many invalid items", () => {
  it.each([
    [20_000, "messages.0.parts must have at most 10000 items"],
    // One value for 40 of the 4 MiB that the body may have.
    [1_000_000, "Request body must have at most 104857 values"],
  ])("POST /api/chat tells that %i are too many", async (count, sentence) => {
    const body = `{"messages":[{"id":"a","parts":[${"0,".repeat(count)}0]}]}`;
    const answer = await person.withKey.request("POST", "/api/chat", { body });
    expect(answer.status, answer.text.slice(0, 200)).toBe(400);
    expect(sentenceOf(answer)).toBe(sentence);
  });

  it("a list without a limit tells the first", () => {
    const contract = { body: z.object({ a: z.array(z.string()) }) };
    const validate = validator(contract as unknown as Contract);
    const body = { a: new Array(200_000).fill(0) };
    expect(validate({ params: undefined, query: undefined, body })).toMatchObject({
      code: "invalid_request",
      message: "a.0 must be a string",
    });
  });
});

describe("unusual forms of a request", () => {
  /** Sends a request whose method and target a fetch would refuse. */
  const send = (method: string, path: string, host = "localhost") =>
    new Promise<{ status: number | undefined; allow: string | undefined; text: string }>(
      (resolve, reject) => {
        const { hostname, port } = new URL(stack.url);
        const options = { hostname, port, method, path, headers: { host } };
        const request = httpRequest(options, async (response) => {
          const text = (await response.toArray()).join("");
          resolve({ status: response.statusCode, allow: response.headers.allow, text });
        });
        request.on("error", reject).end();
      },
    );

  it.each(["TRACE", "PROPFIND", "QUERY"])("%s is 405 on every path", async (method) => {
    for (const path of ["/api/health", "/", "/nowhere", `${stack.url}/api/health`]) {
      const answer = await send(method, path);
      expect(answer).toMatchObject({ status: 405, allow: expect.stringContaining("GET, HEAD") });
      expect(JSON.parse(answer.text)).toEqual({ status: "error", error: "Method not allowed" });
    }
  });

  it("OPTIONS of the server is answered", async () => {
    expect(await send("OPTIONS", "*")).toMatchObject({ status: 204, text: "" });
  });

  it.each([`${stack.url}/api/health`, "HTTP://other.example/api/health?a=1"])(
    "an absolute target is served: %s",
    async (target) => {
      expect(await send("GET", target)).toMatchObject({ status: 200 });
    },
  );

  it("a body with a coding is decoded, and its bytes are stored", async () => {
    const headers = { ...person.withKey.headers, "content-encoding": "gzip" };
    const post = (path: string, method: string, body: BodyInit) =>
      fetch(stack.url + path, {
        ...{ method, body },
        headers: { ...headers, "content-type": "application/json" },
      });
    const created = await post(
      "/api/sessions",
      "POST",
      new Uint8Array(gzipSync('{"title":"Zip"}')),
    );
    expect(created.status).toBe(201);
    const { session } = z
      .object({ session: z.object({ id: z.string(), title: z.string() }) })
      .parse(await created.json());
    expect(session.title).toBe("Zip");
    await person.withKey.post("/api/sandbox", { sessionId: session.id });
    const path = `/api/sandbox/files/content?sessionId=${session.id}&path=zip.txt`;
    const put = await post(path, "PUT", new Uint8Array(gzipSync("Nightjar")));
    expect(put.status, await put.text()).toBeLessThan(300);
    expect((await person.withKey.get(path)).text).toBe("Nightjar");
    const cut = await post(path, "PUT", new Uint8Array(gzipSync("Hafen").subarray(0, 15)));
    expect(cut.status).toBe(400);
    expect((await person.withKey.get(path)).text).toBe("Nightjar");
  });
});
