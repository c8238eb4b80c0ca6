/** The bucket of a client's address, and pages of other origins. */

import { describe, expect, it } from "vitest";
import {
  clientAddress,
  isFromForeignPage,
  isFromThisMachine,
  PEER_HEADER,
} from "../src/client-address.ts";

describe("the address of a client", () => {
  it.each([
    [0, "203.0.113.7", "198.51.100.1", "203.0.113.7"],
    [1, "203.0.113.7", "192.0.2.1, 198.51.100.1", "198.51.100.1"],
    [2, "203.0.113.7", "192.0.2.1, 198.51.100.1", "192.0.2.1"],
    [3, "203.0.113.7", "192.0.2.1, 198.51.100.1", "unknown"],
    [1, "203.0.113.7", "not an address", "unknown"],
    [0, "2001:db8:1:2:3:4:5:6", "", "2001:db8:1:2::/64"],
    [0, "::ffff:203.0.113.7", "", "203.0.113.7"],
    [0, "127.0.0.9", "", "loopback"],
    [0, "::1", "", "loopback"],
  ])("behind %i proxies, of the peer %s with %j, is %s", (proxies, peer, forwarded, address) => {
    const headers = new Headers({ [PEER_HEADER]: peer, "x-forwarded-for": forwarded });
    expect(clientAddress(headers, proxies)).toBe(address);
  });

  it("is of this machine only if the peer is known to be", () => {
    expect(isFromThisMachine(new Headers({ [PEER_HEADER]: "127.0.0.1" }))).toBe(true);
    expect(isFromThisMachine(new Headers({ [PEER_HEADER]: "203.0.113.7" }))).toBe(false);
    expect(isFromThisMachine(new Headers())).toBe(false);
  });
});

it.each<[boolean, Record<string, string>]>([
  [false, {}],
  [false, { "sec-fetch-site": "same-origin" }],
  [false, { "sec-fetch-site": "none" }],
  [true, { "sec-fetch-site": "same-site" }],
  [true, { "sec-fetch-site": "cross-site", origin: "https://api.example.com" }],
  [false, { origin: "https://api.example.com" }],
  [false, { origin: "http://localhost:3000", host: "localhost:3000" }],
  [true, { origin: "https://other.example.com", host: "api.example.com" }],
  [true, { origin: "null", host: "api.example.com" }],
])("a request is from a foreign page: %s, %j", (expected, headers) => {
  expect(isFromForeignPage(new Headers(headers), "https://api.example.com")).toBe(expected);
});
