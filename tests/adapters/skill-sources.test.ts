/** Which names of branches an import accepts. */

import { expect, test } from "vitest";
import { importSkillContract } from "../../lib/skills/contract.ts";

test.each(["../../x", "a/../b", "a?b", "a#b", "a b", "/a", "a/", "%2e%2e/x"])(
  "the name %j, which could lead to another repository, is refused",
  (ref) => {
    const given = { url: "https://github.com/o/r", ref };
    expect(importSkillContract.body.safeParse(given).success).toBe(false);
  },
);
