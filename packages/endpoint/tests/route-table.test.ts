import { describe, expect, it } from "vitest";
import { RouteTable } from "../src/route-table.ts";

const table = new RouteTable<string>();
const patterns = [
  "/api/keys",
  "/api/keys/[id]",
  "/api/keys/[id]/rotate",
  "/api/keys/example",
  "/api/files/[...path]",
  "/api/[[...unknown]]",
];
for (const pattern of patterns) table.add(pattern, pattern);

describe("the route of a path", () => {
  it.each([
    ["/api/keys", "/api/keys", {}],
    ["/api/keys/example", "/api/keys/example", {}],
    ["/api/keys/1", "/api/keys/[id]", { id: "1" }],
    ["/api/keys/a%2Fb%C3%BC", "/api/keys/[id]", { id: "a/bü" }],
    ["/api/keys/example/rotate", "/api/keys/[id]/rotate", { id: "example" }],
    ["/api/files/a/b", "/api/files/[...path]", { path: ["a", "b"] }],
    ["/api/files", "/api/[[...unknown]]", { unknown: ["files"] }],
    ["/api/keys/", "/api/[[...unknown]]", { unknown: ["keys", ""] }],
    ["/api", "/api/[[...unknown]]", {}],
  ])("%s", (path, route, params) => {
    expect(table.match(path)).toEqual({ route, params });
  });

  it.each(["/", "/apis", "/api/keys/%FF"])("%s has none", (path) => {
    expect(table.match(path)).toBeNull();
  });
});
