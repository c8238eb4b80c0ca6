/** Sign-up: an agent gets its first API key for a code that is sent by e-mail. */

import { contract, successResponse } from "@platform/endpoint/contract/contract";
import { emailAddress, uuid } from "@platform/endpoint/contract/fields";
import { z } from "zod";

const shared = { method: "POST", tag: "Sign-up", family: "error", auth: "none" } as const;

export const signupContract = contract({
  ...shared,
  path: "/api/agents/signup",
  summary: "Ask for a verification code by mail",
  description:
    "The answer is the same for every address. The code has six digits, is valid for 15 minutes " +
    "and replaces the one before; an address gets at most five mails an hour.",
  body: z.object({ email: emailAddress }),
  responses: successResponse("Accepted", { message: z.string() }),
  errors: ["rate_limited", "upstream_error", "upstream_timeout", "unavailable"],
});

export const verifyContract = contract({
  ...shared,
  path: "/api/agents/verify",
  summary: "Exchange a verification code for an API key",
  description:
    "The first time, this makes the account of the address. A code works once, and is dead after " +
    "five wrong tries. The tries of the network address that asked for the code are counted apart, " +
    "so that nobody else can use them up.",
  body: z.object({
    email: emailAddress,
    code: z
      .string()
      .trim()
      .regex(/^\d{6}$/, "code must be six digits"),
  }),
  responses: successResponse("The address is the caller's", {
    account_id: uuid,
    api_key: z.string().describe("The whole key. Shown this once."),
  }),
  errors: ["rate_limited", "too_many_attempts", "unavailable"],
});

export const apiTags = { "Sign-up": "How an agent gets its first API key." };
