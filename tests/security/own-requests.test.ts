/**
 * The agent's requests to this service are judged as its router understands them: whatever the spelling of
 * a path, it has the effects of the operation, or there is no such operation and the request is not made.
 */

import type { Contract } from "@platform/endpoint/contract/contract";
import { segmentsOf } from "@platform/endpoint/contract/effects";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { judgeRequest, operations } from "../../lib/openapi/registry.ts";

const ORIGIN = "http://localhost:3000";
const isStored = ({ href }: URL) => href.startsWith(`${ORIGIN}/api/media/`);

/** Alternative spellings of a path that an agent can write. */
const spellings: Readonly<Record<string, (path: string) => string>> = {
  "a double slash at the start": (path) => `/${path}`,
  "a double slash after /api": (path) => path.replace("/api/", "/api//"),
  "a double slash at the end": (path) => path.replace(/\/([^/]*)$/, "//$1"),
  "three slashes": (path) => path.replace("/api/", "/api///"),
  "a trailing slash": (path) => `${path}/`,
  "two trailing slashes": (path) => `${path}//`,
  "a dot segment": (path) => path.replace("/api/", "/api/./"),
  "a dot segment at the end": (path) => `${path}/.`,
  "a parent": (path) => path.replace("/api/", "/api/x/../"),
  "a parent after a double slash": (path) => path.replace("/api/", "/api/x/..//"),
  "an encoded dot segment": (path) => path.replace("/api/", "/api/%2e/"),
  "an encoded parent": (path) => path.replace("/api/", "/api/x/%2e%2E/"),
  "an encoded slash after /api": (path) => path.replace("/api/", "/api%2f"),
  "an encoded slash at the end": (path) => path.replace(/\/([^/]*)$/, "%2F$1"),
  "an encoded slash and a slash": (path) => path.replace("/api/", "/api/%2f"),
  "a twice encoded slash": (path) => path.replace("/api/", "/api%252f"),
  "a backslash": (path) => path.replace("/api/", "/api\\"),
  "two backslashes": (path) => path.replace("/api/", "/api\\\\"),
  "a slash and a backslash": (path) => path.replace("/api/", "/api/\\"),
  "an encoded backslash": (path) => path.replace("/api/", "/api%5c"),
  "a slash and an encoded backslash": (path) => path.replace("/api/", "/api/%5C"),
  "upper case": (path) => path.toUpperCase(),
  "an upper-case folder": (path) => path.replace("/api/", "/Api/"),
  "an encoded letter": (path) => path.replace("/api/", "/%61pi/"),
  "an encoded letter at the end": (path) =>
    path.replace(/.$/, (end) => `%${end.charCodeAt(0).toString(16)}`),
  "a semicolon": (path) => `${path};x=1`,
  "a semicolon in the middle": (path) => path.replace("/api/", "/api;x/"),
  "a NUL": (path) => `${path}%00`,
  "a line feed": (path) => `${path}%0a`,
  "a tab, which URLs drop": (path) => path.replace("/api/", "/api/\t"),
  "a space": (path) => `${path}%20`,
  "an extension": (path) => `${path}.json`,
  "malformed percent": (path) => `${path}%`,
  "malformed UTF-8": (path) => `${path}%ff`,
  "an overlong slash": (path) => path.replace("/api/", "/api%c0%af"),
  "a full-width slash": (path) => path.replace("/api/", "/api\uff0f"),
  "a fragment": (path) => `${path}#x`,
  "a query": (path) => `${path}?x=1`,
  "a second query": (path) => `${path}??x=1`,
};

const withEffects = operations.filter(
  ({ contract }) => contract.runCredential && (contract.effect || contract.urls),
);
const pathOf = ({ path }: Contract): string =>
  path.replace("{connector}", "slack").replace("{action}", "SEND");
const judge = (contract: Contract, path: string) => {
  const url = URL.parse(ORIGIN + path);
  return url?.origin === ORIGIN ? judgeRequest(contract.method, url, "{}", isStored) : null;
};

describe.each(withEffects.map(({ id, contract }) => [id, contract] as const))(
  "%s",
  (_, contract) => {
    it("has its effect", () => {
      const judged = judge(contract, pathOf(contract));
      expect(judged?.contract).toBe(contract);
      expect(judged?.effects.categories).toContain(contract.effect);
    });

    it.each(Object.entries(spellings))("with %s", (_name, spell) => {
      const judged = judge(contract, spell(pathOf(contract)));
      if (judged === null) return;
      // An action's name may have any letters, of which the endpoint refuses all but a few.
      expect(judged.contract).toBe(contract);
      expect(judged.effects.categories).toContain(contract.effect);
      // The path that is requested is the one that was judged.
      expect(segmentsOf(judged.url.pathname)).not.toBeNull();
      expect(judged.url.pathname).not.toMatch(/\/\/|%2f|%5c|\/$/i);
    });
  },
);

it("tries operations that write files, act in services, and make media", () => {
  const kinds = new Set(withEffects.map(({ contract }) => contract.effect));
  expect([...kinds].sort()).toEqual(["connectors", "media", "write"]);
});

it("takes the more literal path of two, as the router does", () => {
  const judged = judgeRequest("GET", new URL(`${ORIGIN}/api/chat/runs`), undefined, isStored);
  expect(judged?.contract.path).toBe("/api/chat/runs");
  const versioned = judgeRequest("GET", new URL(`${ORIGIN}/api/tasks/runs`), undefined, isStored);
  expect(versioned?.contract.path).toBe("/api/tasks/runs");
});

it.each([
  ["GET", "/api/unknown"],
  ["TRACE", "/api/content/image"],
  ["GET", "/api/content/image"],
  ["GET", "/"],
  ["POST", "/auth/v1/otp"],
  ["POST", "/api"],
])("knows no operation %s %s", (method, path) => {
  expect(judgeRequest(method, new URL(ORIGIN + path), undefined, isStored)).toBeNull();
});

describe("URLs that the service connects to", () => {
  const stored = `${ORIGIN}/api/media/a/b.png`;
  const evil = "https://evil.example/?d=SECRET";
  const hostsOf = (path: string, body: object) =>
    judgeRequest("POST", new URL(ORIGIN + path), JSON.stringify(body), isStored)?.effects;

  const bodies: readonly (readonly [string, object])[] = operations.flatMap(({ contract }) =>
    (contract.runCredential ? (contract.urls ?? []) : []).flatMap((field) => {
      const camel = field.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
      const isList = field === "images";
      return [...new Set([field, camel])].map(
        (name) => [contract.path, { prompt: "x", [name]: isList ? [stored, evil] : evil }] as const,
      );
    }),
  );
  it.each(bodies)("%s %j is a request to its host", (path, body) => {
    expect(hostsOf(path, body)).toEqual({
      categories: ["media", "fetch"],
      hosts: ["evil.example"],
    });
  });

  it.each([
    ["media of this service", stored, ["media"]],
    ["another page of this service, which may redirect", `${ORIGIN}/api/x`, ["media", "fetch"]],
    ["another port", "http://localhost:3001/api/media/a/b.png", ["media", "fetch"]],
    ["the service's name as userinfo", `http://localhost:3000@evil.example/x`, ["media", "fetch"]],
    ["data in the URL", "data:image/png;base64,AAAA", ["media", "fetch"]],
  ])("%s", (_name, url, categories) => {
    const given = { prompt: "x", reference_image_url: url };
    expect(hostsOf("/api/content/image", given)?.categories).toEqual(categories);
  });

  /** Fields that look like URLs of somewhere, and that the service connects to none of. */
  const KEPT = [
    // Hosts that agents with the template may reach.
    "createTemplate.network.hosts",
  ];
  it("are all declared by their contracts", () => {
    const found = operations.flatMap(({ id, contract }) =>
      contract.runCredential
        ? [contract.body, contract.query]
            .flatMap((schema) => (schema ? urlFieldsIn(z.toJSONSchema(schema, asGiven)) : []))
            .filter((name) => !contract.urls?.includes(name))
            .map((name) => `${id}.${name}`)
        : [],
    );
    expect([...new Set(found)]).toEqual(KEPT);
  });
});

const asGiven = { io: "input", unrepresentable: "any" } as const;

/** Returns the paths of the fields of a JSON Schema that can have URLs, by their format or their name. */
function urlFieldsIn(schema: unknown, path: readonly string[] = []): string[] {
  const { properties = {}, items, anyOf = [], oneOf = [], format } = Object(schema);
  const isUrl = format === "uri" || /url|uri|href|hosts?$|callback/i.test(path.at(-1) ?? "");
  if (isUrl) return [path.join(".")];
  return [
    ...Object.entries(properties).flatMap(([name, one]) => urlFieldsIn(one, [...path, name])),
    ...[items, ...anyOf, ...oneOf].flatMap((one) => (one ? urlFieldsIn(one, path) : [])),
  ];
}
