import { describe, expect, it } from "vitest";
import { contracts } from "../../lib/openapi/registry.ts";
import { nameOf } from "../support/fixtures/shapes.ts";
import { stack } from "../support/harness/stack.ts";
import { rows } from "./rows.ts";
import { lines, tableSuite, titleOf } from "./table-suite.ts";

describe("the table", () => {
  it("has every endpoint, and says how each is asked", () => {
    const named = new Set(lines.map(({ name }) => name));
    expect(contracts.map(nameOf).filter((name) => !named.has(name))).toEqual([]);
    expect(Object.keys(rows).sort()).toEqual([...named].sort());
  });

  it("has every field that names an account, with every account it can name", () => {
    const due = contracts.flatMap((contract) =>
      [
        { at: contract.accountAccess, shared: "artist" },
        { at: contract.organizationAccess, shared: "organization" },
        { at: contract.artistAccess, shared: "artist" },
      ].flatMap(({ at, shared }) =>
        at
          ? ["own", shared, "foreign", "nobody", "malformed"].map(
              (whose) => `${nameOf(contract)} ${at.field}=${whose}`,
            )
          : [],
      ),
    );
    const titles = lines.map(titleOf);
    expect(due.filter((title) => !titles.includes(title))).toEqual([]);
    expect(new Set(titles).size).toBe(titles.length);
  });
});

tableSuite(() => stack.url, rows);
