import { DatabaseUnavailable } from "@platform/kit/database-unavailable";
import { QueueRefusal } from "@platform/kit/fair-queue";
import { describe, expect, it } from "vitest";
import { IdentityProviderUnavailable } from "../../../lib/identity/credentials/verify-bearer.ts";
import { respond } from "../../../packages/endpoint/src/respond.ts";
import { exchangeOf } from "../../support/harness/exchange.ts";

const failing = (error: unknown) => () => Promise.reject(error);

describe("a throw", () => {
  it.each([
    ["an outage of the database", new DatabaseUnavailable("no"), 503, "unavailable", "1"],
    ["an outage of the provider", new IdentityProviderUnavailable("no"), 503, "unavailable", "1"],
    ["a full queue", new QueueRefusal("full"), 429, "rate_limited", "5"],
    ["a wait that is too long", new QueueRefusal("timeout"), 503, "unavailable", "5"],
    ["a defect", new Error("secret detail"), 500, "internal", null],
    ["anything else", "secret detail", 500, "internal", null],
  ])(
    "that is %s becomes an answer without its text",
    async (_, error, status, code, retryAfter) => {
      const { response, cause } = await respond(exchangeOf(), failing(error));
      expect(response.status).toBe(status);
      expect(response.headers.get("x-error-code")).toBe(code);
      expect(response.headers.get("retry-after")).toBe(retryAfter);
      expect(await response.text()).not.toContain("secret detail");
      expect(cause).toBe(error);
    },
  );
});
