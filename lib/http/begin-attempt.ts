/** The attempts of requests with an `Idempotency-Key`, in the database. */

import { createHmac } from "node:crypto";
import { type Attempt, LEASE_SECONDS } from "@platform/endpoint/idempotency";
import { z } from "zod";
import type { Caller } from "../identity/credentials/caller.ts";
import type { Database } from "../platform/database/port.ts";
import { call } from "../platform/database/query.ts";
import { findSecret } from "../platform/find-secret.ts";
import { openText, sealText } from "../platform/seal-text.ts";

const begunAttempt = z.discriminatedUnion("outcome", [
  z.object({ outcome: z.literal("begun"), effect_id: z.string(), attempt: z.int() }),
  z.object({ outcome: z.literal("done"), response: z.string() }),
  z.object({ outcome: z.enum(["running", "mismatch"]) }),
]);

/** Begins an attempt of the account that the credential belongs to. Answers are stored encrypted. */
export async function beginAttempt(
  db: Database,
  { ownerId }: Caller,
  key: string,
  content: string,
): Promise<Attempt> {
  const secret = await findSecret(db, ownerId, (one) => hash("key", key, one));
  const stored = { accountId: ownerId, keyHash: hash("key", key, secret) };
  const lease = { leaseSeconds: LEASE_SECONDS };
  const asked = { ...stored, ...lease, fingerprint: hash("content", content, secret) };
  const context = `${ownerId} ${stored.keyHash}`;
  const begun = await call(db, "begin_idempotent", asked, begunAttempt);
  if (begun.outcome === "done") {
    return { outcome: "done", answer: openText(begun.response, context) };
  }
  if (begun.outcome !== "begun") return { outcome: begun.outcome };
  const own = { ...stored, attempt: begun.attempt };
  return {
    outcome: "begun",
    effectId: begun.effect_id,
    extend: () => call(db, "extend_idempotent", { ...own, ...lease }, z.unknown()),
    end: async (answer) => {
      const ended = { ...own, response: answer && sealText(answer, context) };
      await call(db, "end_idempotent", ended, z.unknown());
    },
  };
}

/** Uses an HMAC with a purpose, so neither a key nor a request can be guessed from its hash. */
function hash(purpose: "key" | "content", text: string, secret: string): string {
  return createHmac("sha256", secret).update(`idempotency ${purpose}\n${text}`).digest("hex");
}
