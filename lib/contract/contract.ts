/**
 * What an endpoint promises, as data: the one source of validation, types, error shape and
 * OpenAPI. A route file joins it to a use case with `route` (lib/http/endpoint.ts).
 */
import type { z } from "zod";
import type { ErrorCode } from "./app-error.ts";

/** The shape of an endpoint's errors. Decisions, section 1. */
export type ErrorFamily = "message" | "error" | "missing" | "plain" | "catalog";
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Where a request names an account that the caller must have access to. */
export interface AccessField {
  readonly in: "body" | "query";
  readonly field: string;
}

/** Headers that only some answers have. */
export type ResponseHeader =
  | "accept-ranges"
  | "content-range"
  | "etag"
  | "link"
  | "location"
  | "retry-after"
  | "x-workflow-run-id"
  | "x-workflow-stream-tail-index";

/** Where a run takes place: its credential reaches no further than a contract's `runCredential`. */
export interface RunScope {
  readonly sessionId: string;
  readonly chatId: string;
}

/** A condition under which the credential of a run may make a request. */
export interface RunRule {
  /** Ends the sentence "The credential of a run may call it …". */
  readonly only: string;
  /** @param request as the contract's own schemas parsed it */
  readonly allows: (
    request: { readonly params: unknown; readonly query: unknown; readonly body: unknown },
    run: RunScope,
  ) => boolean;
}

interface SuccessResponse {
  readonly description: string;
  readonly headers?: readonly ResponseHeader[];
  /** The JSON body; absent for streams, bytes and empty answers. */
  readonly schema?: z.ZodType;
  /** A Server-Sent Events stream. */
  readonly stream?: true;
  /** Bytes: the content types they may have. */
  readonly bytes?: readonly string[];
}

export interface Contract {
  readonly method: Method;
  /** As in OpenAPI: `/api/keys/{id}/rotate`. */
  readonly path: `/api/${string}`;
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  readonly family: ErrorFamily;
  /** `optional`: no credential is fine, a wrong one is not. */
  readonly auth: "required" | "optional" | "none";
  /**
   * May the credential of a run call it, which every command and every document in a sandbox can
   * use? Nothing may be called that does not say so, not even what needs no credential: there it
   * also keeps out all that a sandbox sends. See lib/http/guard-run.ts.
   */
  readonly runCredential?: true | RunRule;
  /** `account_id`: the caller then acts for that account, or gets 403. */
  readonly accountAccess?: AccessField;
  /** `organization_id`: the caller must be it or a member, or gets 403. */
  readonly organizationAccess?: AccessField;
  /** An artist that the caller must have access to, or gets 404 `Artist not found`. */
  readonly artistAccess?: AccessField;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodType;
  /** What the handler itself reads of the request's headers: described, not checked. */
  readonly headers?: z.ZodObject;
  /** Absent: a body is not read. An empty body counts as `{}`. */
  readonly body?: z.ZodType;
  /** Bytes. Default 1 MiB. */
  readonly bodyLimit?: number;
  /**
   * Takes `Idempotency-Key` (lib/http/idempotency.ts; it needs `auth: "required"` and a JSON answer).
   * The wrapper stores and replays the answer. The handler's part is to do its effect under
   * `input.effectId`, which all attempts with one key have in common, and which is a new id for a
   * request without a key: make it the primary key of what is created (`insert … on conflict (id)
   * do nothing`, then read the row), or a unique column written in the same transaction, or the
   * idempotency key of the service that is called. Then an attempt that follows a crash finds what
   * the first one did instead of doing it again. A handler that answers 5xx may be called again
   * under the same id.
   */
  readonly idempotent?: true;
  readonly responses: Readonly<Record<number, SuccessResponse>>;
  /** Codes beyond those that follow from the rest (400, 401, 413, 500, 503). */
  readonly errors: readonly ErrorCode[];
}

/** Keeps the literal types of a contract, which `route` reads. */
export function contract<const C extends Contract>(definition: C): C {
  return definition;
}
