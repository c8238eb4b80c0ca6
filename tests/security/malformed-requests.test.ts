/**
 * Malformed requests to every endpoint. This file is long because it is one list of ways in which a
 * request can be wrong, applied to every contract.
 *
 * One function reads the requests of all endpoints. So by default an endpoint is asked only what shows
 * that it is read by that function, and what its own schema decides; one of each family, and one
 * with a limit of its own, are asked in every way. With `SOAK=1`, all are.
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

const isSoak = process.env.SOAK === "1";
const withBody = contracts.filter(({ body }) => body !== undefined);
/** The first of each family, and of those with each limit. */
const wholly = isSoak
  ? withBody
  : withBody.filter(
      ({ family, bodyLimit }, index) =>
        withBody.findIndex((one) => one.family === family && one.bodyLimit === bodyLimit) === index,
    );
/** Some of a list, or all of it. */
const few = <T>(list: readonly T[], some: readonly T[]): readonly T[] => (isSoak ? list : some);
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

const nested = (depth: number, open: string, close: string) =>
  open.repeat(depth) + close.repeat(depth);

describe.each(named(wholly))("%s refuses", (_, contract) => {
  it.each([
    ["an unclosed object", '{"a":'],
    ["a word", "hello"],
    ["single quotes", "{'a':1}"],
    ["two values", "{}{}"],
    ["a trailing comma", '{"a":1,}'],
    ["NaN", '{"a":NaN}'],
    ["a raw control character", '{"a":"\u0001"}'],
    ["a form", "a=1&b=2"],
  ])("%s as invalid JSON", async (what, body) => {
    const answer = await send(contract, body, { "content-type": "text/plain" });
    expect(answer.status, what).toBe(400);
    expectErrorShape(answer, contract.family);
    expect(sentenceOf(answer)).toBe("Invalid JSON body");
    expect(answer.headers.get("x-error-code")).toBe("invalid_json");
  });

  it("bytes that are no UTF-8", async () => {
    const response = await fetch(stack.url + fillPath(contract.path, {}), {
      method: contract.method,
      headers: person.withKey.headers,
      body: Uint8Array.of(0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d),
    });
    expect(response.status).toBe(400);
    expect(response.headers.get("x-error-code")).toBe("invalid_json");
  });

  it.each(["null", "1", '"text"', "true", "[]", "[[]]"])(
    "%s instead of an object",
    async (body) => {
      const answer = await send(contract, body);
      expect(answer.status).toBe(400);
      expectErrorShape(answer, contract.family);
      expect(sentenceOf(answer)).toBe("Request body must be a JSON object");
    },
  );

  it("a body of a hundred thousand levels", async () => {
    for (const body of [
      nested(100_000, "[", "]"),
      "[".repeat(100_000),
      `{"a":${nested(90_000, "[", "]")}}`,
      nested(100_000, '{"a":', "}").replace("}", "1}"),
    ]) {
      const answer = await send(contract, body);
      expect(answer.status).toBe(400);
      expectErrorShape(answer, contract.family);
    }
  });

  it.each([
    ["NUL", '"\\u0000"'],
    ["half a surrogate pair", '"\\ud800"'],
    ["the other half", '"a\\uDC00b"'],
  ])("%s in any text, name or depth", async (_what, text) => {
    for (const body of [`{"x":${text}}`, `{${text}:1}`, `{"a":[{"b":[${text}]}]}`]) {
      const answer = await send(contract, body);
      expect(answer.status).toBe(400);
      expectErrorShape(answer, contract.family);
      expect(sentenceOf(answer)).toContain("Unicode");
    }
  });

  it("a body over its limit, whether its length is declared, wrong or unknown", async () => {
    const limit = contract.bodyLimit ?? 1024 * 1024;
    const large = JSON.stringify({ a: "x".repeat(limit) });
    const declared = await send(contract, large);
    expect(declared.status).toBe(413);
    expectErrorShape(declared, contract.family);
    expect(sentenceOf(declared)).toBe("Request body too large");
    expect(await sendEndless(contract, limit)).toBe(413);
  });

  it("keys of prototypes harmlessly", async () => {
    for (const body of [
      '{"__proto__":{"isAdmin":true,"status":"x"}}',
      '{"constructor":{"prototype":{"isAdmin":true}}}',
      '{"\\u005f_proto__":{"toString":1},"hasOwnProperty":1,"toString":1,"then":1}',
    ]) {
      expectSane(await send(contract, body), contract, body);
    }
    expect((await client().get("/api/health")).status).toBe(200);
  });
});

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

  it("every field of a wrong type, or takes it", async () => {
    if (!(contract.body instanceof z.ZodObject)) return;
    const long = "x".repeat(50_000);
    const rubbish = few<unknown>(
      [null, 0, -1, 1e308, true, "", " ", "\u{1F600}", long, [], [null], {}],
      [null, 1e308, "", long, [null], {}],
    );
    const fields = Object.keys(contract.body.shape);
    for (const field of fields) {
      const answers = await Promise.all(
        rubbish.map((value) => send(contract, JSON.stringify({ [field]: value }))),
      );
      for (const [index, answer] of answers.entries()) {
        expectSane(answer, contract, `${field}: ${JSON.stringify(rubbish[index])?.slice(0, 40)}`);
      }
    }
  });
});

const oddTexts = [
  "",
  " ",
  "abc",
  "-1",
  "0",
  "1e9",
  "99999999999999999999",
  "1.5",
  "null",
  "%00",
  "%0a",
  "😀",
  "%ED%A0%80",
  "a'b\"c;--",
  "(1,2)",
  "../..",
  "x".repeat(5_000),
];
const encoded = (text: string) => (text.startsWith("%") ? text : encodeURIComponent(text));

describe.each(named(withQuery))("%s survives hostile query parameters", (_, contract) => {
  it("of any text, repeated, empty or long", async () => {
    if (!(contract.query instanceof z.ZodObject)) return;
    const path = fillPath(contract.path, {});
    for (const field of Object.keys(contract.query.shape)) {
      const queries = [
        ...few(oddTexts, ["", "-1", "99999999999999999999", "%00", "a'b\"c;--"]).map(
          (text) => `${field}=${encoded(text)}`,
        ),
        `${field}=1&${field}=2`,
        `__proto__=1&${field}[__proto__]=1`,
        ...few([`${field}[]=1`, field], []),
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
    const ids = oddTexts.filter((text) => !["", " ", "../..", "%ED%A0%80"].includes(text));
    for (const text of few(ids, ["-1", "%00", "\u{1F600}", "a'b\"c;--"])) {
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
      // Far beyond any buffer on the way; whoever waits for the end never gets here.
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

  it("a body with an unknown coding is 415", async () => {
    const headers = { ...person.withKey.headers, "content-encoding": "zstd" };
    const answer = await client().request("POST", "/api/sessions", { headers, body: {} });
    expectError(
      answer,
      415,
      "error",
      "Content-Encoding must be one of gzip, deflate and br",
      "unsupported_media_type",
    );
    expect(answer.headers.get("accept-encoding")).toBe("gzip, deflate, br");
  });
});
