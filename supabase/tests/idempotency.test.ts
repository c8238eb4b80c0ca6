import { expect, test } from "vitest";
import { rolledBack } from "./transaction.ts";

const use = { key_hash: "key", fingerprint: "request", lease_seconds: 60 };

test("one attempt runs, its response stands, and another request with the key is refused", () =>
  rolledBack(async (transaction) => {
    const account_id = await transaction.account();
    const begin = (fingerprint: string) =>
      transaction.call("begin_idempotent", { ...use, account_id, fingerprint });
    expect(await begin("request")).toMatchObject({ outcome: "begun", attempt: 1 });
    expect(await begin("request")).toEqual({ outcome: "running" });
    expect(await begin("other")).toEqual({ outcome: "mismatch" });
    const end = { account_id, key_hash: "key", attempt: 1, response: "encrypted" };
    await transaction.call("end_idempotent", { ...end, attempt: 2 });
    expect(await begin("request")).toEqual({ outcome: "running" });
    await transaction.call("end_idempotent", end);
    expect(await begin("request")).toEqual({ outcome: "done", response: "encrypted" });
  }));

test("an attempt whose lease has passed is replaced, and can no longer extend it or end it", () =>
  rolledBack(async (transaction) => {
    const account_id = await transaction.account();
    const first = await transaction.call("begin_idempotent", {
      ...use,
      account_id,
      lease_seconds: -1,
    });
    const second = await transaction.call("begin_idempotent", { ...use, account_id });
    expect(second).toEqual({ ...(first as object), attempt: 2 });
    const stale = { account_id, key_hash: "key", attempt: 1 };
    await transaction.call("extend_idempotent", { ...stale, lease_seconds: -1 });
    await transaction.call("end_idempotent", { ...stale, response: "late" });
    expect(await transaction.call("begin_idempotent", { ...use, account_id })).toEqual({
      outcome: "running",
    });
  }));

test("the same key of two accounts is two keys", () =>
  rolledBack(async (transaction) => {
    const [one, other] = [await transaction.account(), await transaction.account()];
    const begin = (account_id: string) =>
      transaction.call("begin_idempotent", { ...use, account_id });
    expect(await begin(one)).toMatchObject({ outcome: "begun" });
    const end = { key_hash: "key", attempt: 1, response: "encrypted" };
    await transaction.call("end_idempotent", { ...end, account_id: other });
    expect(await begin(one)).toEqual({ outcome: "running" });
    expect(await begin(other)).toMatchObject({ outcome: "begun" });
  }));
