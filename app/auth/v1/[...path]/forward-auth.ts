/**
 * Supabase Auth under this origin, so the console's pages connect to no other one. It forwards the
 * few requests that start, refresh and end a session, each with the fields it needs and no others,
 * and adds the public key. There are no cookies.
 *
 * A mailed code is the only way to sign in. Passwords would let anyone sign up with another person's
 * address before its owner does, and would let the holder of a stolen token set one that outlives it.
 */

import { setTimeout as delay } from "node:timers/promises";
import { isFromForeignPage } from "@platform/endpoint/client-address";
import { isAppError, statusOf } from "@platform/endpoint/contract/app-error";
import { rate } from "@platform/endpoint/contract/rate-limit";
import { decodeBody, readBody } from "@platform/endpoint/read-input";
import { isDatabaseUnavailable } from "@platform/kit/database-unavailable";
import { log } from "@platform/kit/log";
import { readText } from "@platform/kit/outbound/vendor-fetch";
import { isFromSandbox } from "@platform/sandbox/outgoing-headers";
import { z } from "zod";
import { addressOf } from "@/lib/http/address.ts";
import {
  askAuthServer,
  countGuess,
  countMail,
  recordMailOutcome,
} from "@/lib/identity/credentials/auth-server.ts";
import { config } from "@/lib/platform/config.ts";
import { call } from "@/lib/platform/database/query.ts";
import { serviceOrigin } from "@/lib/platform/service-origin.ts";
import { currentApp } from "../../../../lib/platform/current-app.ts";
import type { Database } from "../../../../lib/platform/database/port.ts";

/** The largest real request has a tenth of this. */
const MAX_BODY_BYTES = 16 * 1024;
/** How long a mail and a try count towards their limits. */
const LIMIT_WINDOW_SECONDS = 3600;
/** The minimum duration of a response about a code, so timing reveals nothing about the address. */
const MIN_CODE_RESPONSE_MS = 400;

const email = z.email().max(254).toLowerCase();

interface Path {
  readonly body?: z.ZodType<object>;
  /** The allowed values of each query parameter. */
  readonly query?: Readonly<Record<string, readonly string[]>>;
  /** Whether it sends a code to the e-mail address in its body, or tries one. */
  readonly code?: "mail" | "guess";
}

const paths: Readonly<Record<string, Path>> = {
  "POST otp": {
    body: z.object({ email }).transform((given) => ({ ...given, create_user: true })),
    code: "mail",
  },
  "POST verify": {
    body: z.object({
      email,
      token: z.string().regex(/^\d{6,10}$/),
      type: z.literal("email"),
    }),
    code: "guess",
  },
  "POST token?grant_type=refresh_token": {
    body: z.object({ refresh_token: z.string().min(1).max(4096) }),
  },
  "GET user": {},
  "POST logout?scope=local": {},
};

export async function forwardAuth(request: Request): Promise<Response> {
  const started = performance.now();
  const response = await answer(currentApp().db, request);
  const ms = Math.round((performance.now() - started) * 100) / 100;
  const { method } = request;
  log().info({ method, route: "/auth/v1/[...path]", status: response.status, ms }, "request");
  return response;
}

async function answer(db: Database, request: Request): Promise<Response> {
  const { SUPABASE_PUBLISHABLE_KEY: publicKey, OIDC_ISSUER } = config();
  // The API accepts tokens of one issuer, so with another one a session here would be useless.
  if (publicKey === undefined || OIDC_ISSUER !== undefined) {
    return refuse(501, "not_configured", "Sign-in is not configured");
  }
  // Only people at the console sign in: a command of an agent must not obtain an account.
  if (isFromSandbox(request.headers)) return refuse(404, "not_found", "Not found");
  // Any page could use up the mails and the tries of a person who visits it.
  if (isFromForeignPage(request.headers, serviceOrigin())) {
    return refuse(403, "forbidden", "Sign-in is for pages of this origin");
  }
  const url = new URL(request.url);
  const target = `${url.pathname.slice("/auth/v1/".length)}${wantedQuery(url.searchParams)}`;
  const path = paths[`${request.method} ${target}`];
  if (path === undefined) return refuse(404, "not_found", "Not found");

  const body = await readFields(request, path);
  if (body instanceof Response) return body;
  const notBefore = path.code ? delay(MIN_CODE_RESPONSE_MS) : null;
  const address = addressOf(request.headers);
  try {
    const limited =
      (await limit(db, target, address)) ?? (await limitCode(db, path, body, address));
    if (limited !== null) return limited;
    const bearer = /^Bearer ([\w.-]+)$/i.exec(request.headers.get("authorization") ?? "")?.[1];
    const answered = await askAuthServer(target, publicKey, {
      method: request.method,
      ...(bearer === undefined ? {} : { bearer }),
      ...(body === undefined ? {} : { body }),
    });
    if (path.code === "mail") await recordMailOutcome(db, emailIn(body), address, answered.ok);
    await notBefore;
    if (answered.status >= 500) {
      log().warn({ status: answered.status, path: target }, "auth server");
      return unavailable();
    }
    return await passOn(answered);
  } catch (error) {
    if (!isDatabaseUnavailable(error)) log().warn({ err: error, path: target }, "auth server");
    return unavailable();
  }
}

/** Returns the parameter that distinguishes requests; auth-js adds others that are not needed. */
function wantedQuery(given: URLSearchParams): string {
  for (const name of ["grant_type", "scope"]) {
    const value = given.get(name);
    if (value !== null) return `?${name}=${encodeURIComponent(value)}`;
  }
  return "";
}

async function readFields(request: Request, path: Path): Promise<object | undefined | Response> {
  if (path.body === undefined) return undefined;
  // A form of another page can send any other type without a preflight.
  if (!/^application\/json\b/i.test(request.headers.get("content-type") ?? "")) {
    return refuse(415, "validation_failed", "The body must be application/json");
  }
  const decoded = decodeBody(request, MAX_BODY_BYTES);
  const read = isAppError(decoded) ? decoded : await readBody(decoded, MAX_BODY_BYTES);
  if (isAppError(read)) {
    return refuse(statusOf[read.code], "validation_failed", read.message);
  }
  const parsed = path.body.safeParse(read.value);
  if (parsed.success) return parsed.data;
  return refuse(400, "validation_failed", "The request is not well-formed");
}

/** Limits the attempts of one network address, whatever account they are about. */
async function limit(db: Database, target: string, address: string): Promise<Response | null> {
  const perMinute = config().SIGNUP_RATE_LIMIT;
  if (perMinute === 0 || !isAttempt(target)) return null;
  const taken = await call(db, "take_from_bucket", { bucket: `auth:${address}`, perMinute }, rate);
  if (taken.retry_after === null) return null;
  return tooMany("over_request_rate_limit", "Too many requests", taken.retry_after);
}

/** Limits the mails to one e-mail address, and the tries of its code. */
async function limitCode(
  db: Database,
  path: Path,
  body: object | undefined,
  address: string,
): Promise<Response | null> {
  if (path.code === undefined) return null;
  const whose = emailIn(body);
  if (path.code === "mail") {
    if (await countMail(db, whose, address)) return null;
    return tooMany(
      "over_email_send_rate_limit",
      "Too many mails to this address",
      LIMIT_WINDOW_SECONDS,
    );
  }
  if (await countGuess(db, whose, address)) return null;
  return tooMany("code_dead", "Too many failed verification attempts", LIMIT_WINDOW_SECONDS);
}

const emailIn = (body: object | undefined): string =>
  body !== undefined && "email" in body ? String(body.email) : "";

function unavailable(): Response {
  const response = refuse(503, "unavailable", "Service temporarily unavailable");
  response.headers.set("retry-after", "1");
  return response;
}

function tooMany(code: string, message: string, retryAfter: number): Response {
  const response = refuse(429, code, message);
  response.headers.set("retry-after", String(retryAfter));
  return response;
}

/** Returns whether a request tries to sign in; reading the user and signing out do not. */
const isAttempt = (target: string): boolean => target !== "user" && !target.startsWith("logout");

/** Responds with the auth server's status and body, and none of its headers. */
async function passOn(answered: Response): Promise<Response> {
  const text = await readText(answered);
  return new Response(answered.status === 204 ? null : text, {
    status: answered.status,
    headers: {
      "cache-control": "no-store",
      ...(answered.status === 204 ? {} : { "content-type": "application/json" }),
    },
  });
}

/** Responds with an error in the format of Supabase Auth, which its client expects. */
function refuse(status: number, code: string, message: string): Response {
  return Response.json(
    { code: status, error_code: code, msg: message },
    { status, headers: { "cache-control": "no-store", "x-error-code": code } },
  );
}
