/** Sends every endpoint valid and broken requests, and checks each answer against its description. */
import * as fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { contracts } from "../../lib/openapi/registry.ts";
import { type GeneratedRequest, generateRequests } from "../support/fixtures/arbitrary-requests.ts";
import { fillPath, nameOf } from "../support/fixtures/shapes.ts";
import {
  type ApiDocument,
  type Described,
  readApiDocument,
} from "../support/harness/api-document.ts";
import { createPerson, type Person, unknownKey } from "../support/harness/clients.ts";
import { createRunCredential } from "../support/harness/run-credentials.ts";
import { stack } from "../support/harness/stack.ts";
import { rows } from "./rows.ts";

/** @param runs how many requests of each kind an endpoint gets */
export function fuzzEveryEndpoint({ seed, runs }: { seed: number; runs: number }): void {
  let document: ApiDocument;
  beforeAll(async () => {
    document = await readApiDocument();
  });

  describe.each(contracts.map(nameOf))(`%s, fuzzed from its description (seed ${seed})`, (name) => {
    let operation: Described;
    let person: Person;
    let requests: ReturnType<typeof generateRequests>;
    beforeAll(async () => {
      const found = document.operations.find(({ method, path }) => `${method} ${path}` === name);
      if (!found) throw new Error(`${name} is not described`);
      operation = found;
      person = await createPerson();
      const row = rows[name];
      if (!row) throw new Error(`${name} has no row in tests/security/rows.ts`);
      const ids = await row.arrange(person, await createRunCredential(person.id, "key"));
      const known = { ...ids, ...row.query?.(ids), ...row.body?.(ids), account_id: person.id };
      requests = generateRequests(document, operation, known);
    });

    // These do seconds of work, each of them.
    const isSlow = /^POST .api.content.(?:image|video)$/.test(name);
    const numRuns = isSlow ? Math.ceil(runs / 8) : runs;
    const expectAllDescribed = (kind: keyof typeof requests) =>
      fc.assert(
        fc.asyncProperty(requests[kind], async (request) => {
          await expectDescribed(document, operation, await send(operation, request, person));
        }),
        { seed, numRuns },
      );

    it("answers valid requests as described", () => expectAllDescribed("valid"));
    it("answers broken requests as described", () => expectAllDescribed("broken"));
  });
}

function send(
  { method, path }: Described,
  { params, query, headers, body, credential }: GeneratedRequest,
  person: Person,
): Promise<Response> {
  const encoded = Object.entries(params).map(([name, value]) => [name, encodeURIComponent(value)]);
  const address = fillPath(path, Object.fromEntries(encoded));
  return fetch(`${stack.url}${address}${query === "" ? "" : `?${query}`}`, {
    method,
    headers: { ...headers, ...credentialHeaders(person)[credential] },
    redirect: "manual",
    ...(body === undefined ? {} : { body }),
  });
}

const credentialHeaders = ({ withKey, withBearer }: Person) => ({
  key: withKey.headers,
  bearer: withBearer.headers,
  both: { ...withKey.headers, ...withBearer.headers },
  "unknown key": { "x-api-key": unknownKey() },
  rubbish: { authorization: "Bearer e30.e30.\u00e9" },
  none: {},
});

async function expectDescribed(document: ApiDocument, operation: Described, response: Response) {
  const { status, headers } = response;
  const text = await response.text();
  const what = `${status}: ${text.slice(0, 300)}`;
  expect([500, 503], what).not.toContain(status);
  const described = operation.operation.responses[status];
  if (!described) throw new Error(`${status} is not described. ${what}`);
  for (const [name, { required }] of document.headersOf(operation, status)) {
    if (required) expect(headers.get(name), `${name} of ${what}`).toBeTruthy();
  }
  const code = headers.get("x-error-code");
  if (code !== null) expect(described.description, what).toContain(`\`${code}\``);
  expect(code !== null, what).toBe(status >= 400);

  const types = Object.keys(described.content ?? {});
  if (types.length === 0) return expect(text).toBe("");
  const type = headers.get("content-type") ?? "";
  expect(types, what).toContain(types.find((one) => type.startsWith(one)));
  // A file of JSON is described as bytes.
  const isFile = described.content?.["application/json"]?.schema === undefined;
  if (!type.startsWith("application/json") || isFile) return;
  const validate = document.validator(operation, status);
  validate(z.json().parse(JSON.parse(text)));
  expect(validate.errors, what).toBeNull();
}
