import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunningNext } from "../../scripts/run-next.ts";
import { expectErrorShape } from "../support/fixtures/shapes.ts";
import { client } from "../support/harness/clients.ts";
import { startServer } from "../support/harness/server.ts";

let remote: RunningNext;
beforeAll(async () => {
  remote = await startServer({
    env: {
      CATALOG_CLIENT_ID: "client",
      CATALOG_CLIENT_SECRET: "secret",
      // These tests do not need the token server, so the port is closed.
      CATALOG_TOKEN_URL: "http://127.0.0.1:1/api/token",
    },
  });
});
afterAll(() => remote?.stop());

describe("GET /api/catalog/open", () => {
  test("302: leads a browser without a credential to the provider's page", async () => {
    const response = await fetch(
      `${remote.url}/api/catalog/open?type=album&id=4aawyAB9vmqN3uQ7FjRGTy`,
      {
        redirect: "manual",
      },
    );
    expect(response.status).toBe(302);
    expect(response.headers.get("location")).toBe(
      "https://open.spotify.com/album/4aawyAB9vmqN3uQ7FjRGTy",
    );
    expect(await response.text()).toBe("");
  });

  test.each([
    ["type=album", "id is required"],
    [
      "type=label&id=a",
      "type must be one of album, artist, playlist, track, show, episode, audiobook",
    ],
    ["type=album&id=..%2F..%2Fevil", "id has an invalid format"],
    ["type=album&id=a%0d%0aset-cookie:x", "id has an invalid format"],
  ])("400: %s", async (query, sentence) => {
    const answer = await client(null, remote.url).get(`/api/catalog/open?${query}`);
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({ error: { status: 400, message: sentence } });
  });

  test("404: the embedded catalog has no pages of its own", async () => {
    const answer = await client().get("/api/catalog/open?type=album&id=a");
    expect(answer.status).toBe(404);
    expectErrorShape(answer, "catalog");
  });
});
