/** The access token of the catalog's web API, fetched once for all callers that wait for it. */
import { HttpResponse, http } from "msw";
import { expect, test } from "vitest";
import { createTokenSource } from "../../../lib/catalog/adapters/web-api/token.ts";
import { serveHandlers } from "../../support/fakes/vendor-server.ts";

test("is fetched again for a caller whose deadline is later than that of the fetch it joined", async () => {
  const vendor = await serveHandlers([
    http.post("/api/token", () =>
      HttpResponse.json({ access_token: "the-token", token_type: "Bearer", expires_in: 60 }),
    ),
  ]);
  try {
    const tokens = createTokenSource({
      ...{ tokenUrl: `${vendor.origin}/api/token`, clientId: "id", clientSecret: "secret" },
      timeoutMs: 500,
    });
    vendor.failNext("/api/token", "silence");
    const [first, joined] = [
      tokens.get(AbortSignal.timeout(400)),
      tokens.get(AbortSignal.timeout(60_000)),
    ];
    expect((await first).kind).toBe("timeout");
    expect(await joined).toEqual({ kind: "token", value: "the-token" });
    expect(vendor.count("/api/token")).toBe(2);
  } finally {
    await vendor.close();
  }
});
