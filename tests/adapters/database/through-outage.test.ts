/** A call that is repeated through an outage of the database. */
import { DatabaseUnavailable } from "@platform/kit/database-unavailable";
import { expect, test } from "vitest";
import { throughOutage } from "../../../lib/platform/database/unavailable.ts";

test("a call is repeated until the database is back, and no other failure is", async () => {
  let calls = 0;
  const call = async () => {
    if (++calls < 3) throw new DatabaseUnavailable("down");
    return "recorded";
  };
  expect(await throughOutage(call)).toBe("recorded");
  expect(calls).toBe(3);
  const refuse = async () => {
    calls++;
    throw new Error("refused");
  };
  await expect(throughOutage(refuse)).rejects.toThrow("refused");
  expect(calls).toBe(4);
});
