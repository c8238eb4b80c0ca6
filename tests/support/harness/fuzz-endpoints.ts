/**
 * Sends every endpoint what its own description asks for and what it does not, and holds each answer
 * against that description.
 */
import * as fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { contracts } from "../../../lib/openapi/registry.ts";
import { rows } from "../../security/rows.ts";
import { type GeneratedRequest, RequestGenerator } from "../fixtures/arbitrary-requests.ts";
import { fillPath, nameOf } from "../fixtures/shapes.ts";
import { type ApiDocument, type Described, readApiDocument } from "./api-document.ts";
import { createPerson, type Person, unknownKey } from "./clients.ts";
import { createRunCredential } from "./run-credentials.ts";
import { stack } from "./stack.ts";

interface Options {
  readonly seed: number;
  /** How many requests of each kind an endpoint gets. */
  readonly runs: number;
}

export function fuzzEveryEndpoint({ seed, runs }: Options): void {
  let document: ApiDocument;
  beforeAll(async () => {
    document = await readApiDocument();
  });

  describe.each(contracts.map(nameOf))(`%s, by its description (seed ${seed})`, (name) => {
    let operation: Described;
    let person: Person;
    let make: RequestGenerator;
    beforeAll(async () => {
      const found = document.operations.find(({ method, path }) => `${method} ${path}` === name);
      if (!found) throw new Error(`${name} is not described`);
      operation = found;
      person = await createPerson();
      const row = rows[name];
      if (!row) throw new Error(`${name} has no row in tests/security/rows.ts`);
      const ids = await row.arrange(person, await createRunCredential(person.id, "key"));
      const known = { ...ids, ...row.query?.(ids), ...row.body?.(ids), account_id: person.id };
      make = new RequestGenerator(document, operation, known);
    });

    // These do seconds of work, each of them.
    const isSlow = /^POST .api.content.(?:image|video)$/.test(name);
    const numRuns = isSlow ? Math.ceil(runs / 8) : runs;
    const holds = (requests: () => fc.Arbitrary<GeneratedRequest>) =>
      fc.assert(
        fc.asyncProperty(requests(), async (request) => {
          expectDescribed(document, operation, await send(operation, request, person));
        }),
        { seed, numRuns },
      );

    it("answers what it asks for as it says", () => holds(() => make.asDescribed()));
    it("answers anything else as it says", () => holds(() => make.broken()));
  });
}

interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

async function send(
  { method, path }: Described,
  { params, query, headers, body, credential }: GeneratedRequest,
  person: Person,
): Promise<Received> {
  const encoded = Object.entries(params).map(([name, value]) => [name, encodeURIComponent(value)]);
  const address = fillPath(path, Object.fromEntries(encoded));
  const response = await fetch(`${stack.url}${address}${query === "" ? "" : `?${query}`}`, {
    method,
    headers: { ...headers, ...credentialHeaders(credential, person) },
    redirect: "manual",
    ...(body === undefined ? {} : { body }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

function credentialHeaders(
  credential: GeneratedRequest["credential"],
  { key, bearer }: Person,
): Record<string, string> {
  switch (credential) {
    case "key":
      return { "x-api-key": key };
    case "bearer":
      return { authorization: `Bearer ${bearer}` };
    case "both":
      return { "x-api-key": key, authorization: `Bearer ${bearer}` };
    case "unknown key":
      return { "x-api-key": unknownKey() };
    case "rubbish":
      return { authorization: "Bearer e30.e30.\u00e9" };
    case "none":
      return {};
  }
}

function expectDescribed(document: ApiDocument, operation: Described, received: Received): void {
  const { status, headers, text } = received;
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
  if (types.length === 0) {
    expect(text).toBe("");
    return;
  }
  const type = headers.get("content-type") ?? "";
  expect(types, what).toContain(types.find((one) => type.startsWith(one)));
  if (!type.startsWith("application/json")) return;
  const validate = document.validator(operation, status);
  validate(z.json().parse(JSON.parse(text)));
  expect(validate.errors, what).toBeNull();
}
