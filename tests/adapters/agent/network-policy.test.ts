/** The syntax of a network policy, and the intersection of several. */

import { networkPolicy, networkPolicyChange } from "@platform/kit/network-policy";
import { isHostAllowed, narrowHosts } from "@platform/kit/outbound/network-policy";
import { describe, expect, it } from "vitest";

describe("a policy", () => {
  const messageOf = (given: unknown) =>
    networkPolicyChange.safeParse(given).error?.issues[0]?.message;
  const of = (...given: string[]) => ({ mode: "allowlist", hosts: given });

  it.each([
    ["example.com:8443"],
    ["https://example.com"],
    ["example.com/path"],
    ["user@example.com"],
    ["a.example, b.example"],
    ["*"],
    ["*.com"],
    ["*.*.com"],
    ["a.*.example.com"],
    ["*example.com"],
    ["*.8.8.8.8"],
    ["*.[::1]"],
    ["::1"],
    ["localhost"],
    ["example.com%2f"],
    [`${"a".repeat(62)}.`.repeat(4).concat("ex")],
  ])("cannot name %s", (host) => {
    expect(messageOf(of(host))).toMatch(/^network\.hosts/);
  });

  it("has hosts exactly where they have a meaning, at most 100", () => {
    const hundred = Array.from({ length: 100 }, (_, index) => `${index}.example.com`);
    expect(networkPolicy.parse(of(...hundred.slice(1), "99.EXAMPLE.com.")).hosts).toEqual(
      hundred.slice(1),
    );
    expect(networkPolicyChange.safeParse(of(...hundred)).success).toBe(true);
    expect(networkPolicyChange.safeParse(of(...hundred, "last.example.com")).success).toBe(false);
    expect(networkPolicy.parse(of()).hosts).toEqual([]);
    const reason = "network.hosts must be given with the mode allowlist, and with no other";
    expect(messageOf({ mode: "allowlist" })).toBe(reason);
    expect(messageOf({ mode: "none", hosts: [] })).toBe(reason);
    expect(messageOf("open")).toMatch(/^network must have a mode/);
    expect(isHostAllowed([{ of: "chat", mode: "allowlist", hosts: [] }], "example.com")).toBe(
      false,
    );
  });

  it("narrows another one to the hosts that both have", () => {
    const narrow = (...given: string[]) =>
      narrowHosts(given, [{ of: "chat", mode: "allowlist", hosts: ["*.example.com", "b.test"] }]);
    expect(narrow("a.example.com", "example.com", "*.b.example.com", "*.test", "b.test")).toEqual([
      "a.example.com",
      "*.b.example.com",
      "b.test",
    ]);
  });
});
