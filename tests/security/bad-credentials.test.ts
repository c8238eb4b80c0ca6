import type { Contract } from "@platform/endpoint/contract/contract";
import { beforeAll, describe, expect, it } from "vitest";
import { contracts } from "../../lib/openapi/registry.ts";
import { expectErrorShape, fillPath, nameOf, sentenceOf } from "../support/fixtures/shapes.ts";
import {
  type Client,
  client,
  createBearer,
  createPerson,
  unknownKey,
} from "../support/harness/clients.ts";

const find = (name: string) => {
  const contract = contracts.find((one) => nameOf(one) === name);
  if (!contract) throw new Error(`${name} is in no contract`);
  return contract;
};

/** Every endpoint is asked with these; with all that is in the list, one of each family, or all with `SOAK=1`. */
const always = ["an unknown key", "a tampered bearer"];

describe("a credential that does not hold is refused, whatever is wrong with it, before the body is read", () => {
  const guarded = contracts.filter(({ auth }) => auth !== "none");
  const isAskedWholly = (contract: Contract) =>
    process.env.SOAK === "1" ||
    guarded.find(({ family, auth }) => family === contract.family && auth === contract.auth) ===
      contract;
  let refused: Record<string, Client>;
  let bothOneEmpty: Client;

  beforeAll(async () => {
    const person = await createPerson();
    const typo = `${person.key.slice(0, -1)}${person.key.endsWith("a") ? "b" : "a"}`;
    refused = {
      "an unknown key": client({ key: unknownKey() }),
      "a key with a typo": client({ key: typo }),
      "an unknown key as a bearer": client({ bearer: unknownKey() }),
      "a key with a typo as a bearer": client({ bearer: typo }),
      "an empty key": client({ key: "" }),
      "a bearer that is no token": client({ bearer: "abc.def.ghi" }),
      "an empty bearer": client({ bearer: "" }),
      "a tampered bearer": client({ bearer: `${person.bearer.slice(0, -4)}AAAA` }),
      "an expired bearer": client({
        bearer: await createBearer(person.email, { exp: Math.floor(Date.now() / 1000) - 60 }),
      }),
    };
    const withHeaders = (headers: Record<string, string>): Client => ({
      ...client(),
      request: (method, path, options) =>
        client().request(method, path, {
          ...options,
          headers: { ...options?.headers, ...headers },
        }),
    });
    refused["basic authentication"] = withHeaders({ authorization: "Basic YTpi" });
    bothOneEmpty = withHeaders({ "x-api-key": "", authorization: `Bearer ${person.bearer}` });
  });

  it.each(guarded.map(nameOf))("%s", async (name) => {
    const contract = find(name);
    const path = fillPath(contract.path, {});
    const sendAs = (caller: Client) =>
      caller.request(contract.method, path, contract.body ? { body: "not json" } : {});
    const asked = Object.entries(refused).filter(
      ([what]) => isAskedWholly(contract) || always.includes(what),
    );
    for (const [what, caller] of asked) {
      const answer = await sendAs(caller);
      expect(answer.status, what).toBe(401);
      expectErrorShape(answer, contract.family);
      expect(sentenceOf(answer)).toBe("Unauthorized");
      expect(answer.headers.get("x-error-code")).toBe("unauthorized");
      expect(answer.headers.get("www-authenticate")).toBeTruthy();
    }
    const answer = await sendAs(bothOneEmpty);
    expect(answer.status).toBe(401);
    expectErrorShape(answer, contract.family);
    expect(sentenceOf(answer)).toBe("Exactly one of x-api-key or Authorization must be provided");
  });
});
