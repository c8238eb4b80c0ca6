/** The limits and cursors of all lists: what cannot be is refused by each contract. */
import { validator } from "@platform/endpoint/read-input";
import { expect, it } from "vitest";
import { z } from "zod";
import { operations } from "../../lib/openapi/registry.ts";

const faults = [
  ["limit", "0", "limit must be at least 1"],
  ["limit", "1000", "limit must be at most"],
  ["limit", "ten", "limit must be a number"],
  ["limit", "1.5", "limit must be a number"],
  ["limit", "", "limit must be a number"],
  ["cursor", "abc", "cursor is invalid"],
  ["cursor", "", "cursor is invalid"],
] as const;

/** Lists whose cursors the vendor makes, and only the vendor can read. */
const ofVendors = ["listActions", "listConnectorEvents"];

const lists = operations.flatMap(({ id, contract }) =>
  contract.query instanceof z.ZodObject && "limit" in contract.query.shape
    ? [[id, contract, contract.query.shape] as const]
    : [],
);

it.each(lists)("%s", (id, contract, fields) => {
  const validate = validator({ ...contract, params: undefined, body: undefined });
  for (const [field, value, message] of faults) {
    if (!(field in fields) || (field === "cursor" && ofVendors.includes(id))) continue;
    const query = { q: "a", type: "artist", id: "a", path: "a", [field]: value };
    const refused = validate({ params: undefined, query, body: undefined });
    expect(refused, value).toMatchObject({ message: expect.stringContaining(message) });
  }
});
