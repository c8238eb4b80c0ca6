/**
 * The declaration of an endpoint: the one source of validation, types, error shapes and OpenAPI. A
 * route file joins it to a use case with `endpoint` (../endpoint.ts).
 */

import type { TurnPolicies } from "@platform/kit/network-policy";
import { z } from "zod";
import type { ErrorCode } from "./app-error.ts";
import type { ApprovalCategory, UntrustedSource } from "./approvals.ts";

/** The shape of an endpoint's error bodies (../error-response.ts). */
export type ErrorFamily = "message" | "error" | "missing" | "plain" | "catalog" | "rpc";
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Where a request names an account that the caller must have access to. */
export interface AccessField {
  readonly in: "body" | "query";
  readonly field: string;
}

/** Headers that only some responses have. */
export type ResponseHeader =
  | "accept-ranges"
  | "content-range"
  | "etag"
  | "link"
  | "location"
  | "retry-after"
  | "x-workflow-run-id"
  | "x-workflow-stream-start-index"
  | "x-workflow-stream-tail-index";

/** The session of a run, its use of the workspace and its network policies, to which a contract can limit the run's credential. */
export interface RunScope {
  readonly sessionId: string;
  readonly chatId: string;
  readonly runId: string;
  /** The artist of its session. */
  readonly artistId: string | null;
  /** How the run uses the workspace of its session. */
  readonly workspace: "write" | "read" | "off";
  readonly turnId: string;
  /** The effects for which it now needs an approval, or that it must not have. */
  readonly asks: readonly ApprovalCategory[];
  /** Which hosts the run may reach, also through the service. */
  readonly network: TurnPolicies;
}

/** A condition under which the credential of a run may call an endpoint. */
export interface RunRule {
  /** Completes the sentence "The credential of a run may call it …" of the OpenAPI document. */
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
  /** The JSON body; absent for streams, bytes and empty responses. */
  readonly schema?: z.ZodType;
  /** A Server-Sent Events stream. */
  readonly stream?: true;
  /** The content types of a response that consists of bytes. */
  readonly bytes?: readonly string[];
}

/** A request and its answer, which name the rows that were read. */
export interface ReadAnswer {
  readonly params: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  /** Absent for streams and bytes. */
  readonly body: unknown;
}

/**
 * Whose words an answer can have. `own`: words of the account, its organization, the operator and
 * its vendors, and none of a stranger. `chats`, `templates`, `skills`, `workspace`: words of rows
 * of which the database knows whether they are a stranger's (`meet_rows` in
 * supabase/schemas/76_approvals.sql). A function returns the strangers of this answer.
 */
type Words = "own" | StrangersIn | readonly StrangersIn[];
type StrangersIn =
  | "chats"
  | "templates"
  | "skills"
  | "workspace"
  | ((answer: ReadAnswer) => readonly UntrustedSource[]);

/** An endpoint that a run may call must say whose words it answers with: a stranger's make the run untrusted. */
type RunAccess =
  | { readonly runCredential?: undefined; readonly words?: undefined }
  | {
      /**
       * Allows the credential of a run, which every command in the run's sandbox can use. Without it the
       * credential is refused. An endpoint that needs no credential then refuses every request from a
       * sandbox.
       */
      readonly runCredential: true | RunRule;
      readonly words: Words;
    };

export type Contract = Endpoint & RunAccess;

interface Endpoint {
  readonly method: Method;
  /** In OpenAPI's notation: `/api/keys/{id}/rotate`. */
  readonly path: `/api/${string}`;
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  readonly family: ErrorFamily;
  /** With `optional`, a request may have no credential, but not an invalid one. */
  readonly auth: "required" | "optional" | "none";
  /** With `auth: "none"`: counts requests towards the limit of addresses without a credential. */
  readonly addressLimit?: true;
  /** The effect of the endpoint, which the policies of a run may forbid or ask for (effects.ts). */
  readonly effect?: ApprovalCategory;
  /**
   * Fields of the body with URLs that the service connects to, or lists of them. For a run each counts as `fetch`
   * to its host, unless it is of this service's own storage.
   */
  readonly urls?: readonly string[];
  /**
   * Offers the endpoint as a tool of the MCP server (`POST /api/mcp`), under its operation id. A call
   * passes the same stages as a request, so a tool can do what its endpoint allows, and no more.
   */
  readonly tool?: true;
  /** The field that names the account to act for; the response is 403 without access to it. */
  readonly accountAccess?: AccessField;
  /** The field that names an organization; 403 unless the caller is it or one of its members. */
  readonly organizationAccess?: AccessField;
  /** The field that names an artist; 404 `Artist not found` without access to it. */
  readonly artistAccess?: AccessField;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodType;
  /** Headers that the handler reads itself. They are documented, not validated. */
  readonly headers?: z.ZodObject;
  /** Without it the body is not read. An empty body counts as `{}`. */
  readonly body?: z.ZodType;
  /**
   * Refuses unknown fields of the body, nested ones included, with 400. For bodies that start or configure
   * an agent, where a mistyped limit or policy must not have no effect. Other bodies are read without them.
   */
  readonly strictBody?: true;
  /** The largest body in bytes; 1 MiB by default. */
  readonly bodyLimit?: number;
  /** Also takes a ZIP archive for a body, which becomes `{zip}` in base64. Its limit is a quarter of the body's. */
  readonly zipBody?: true;
  /**
   * Takes raw bytes for a body, at most this many. The handler reads them from `request.body` while
   * they come, and enforces the limit. Excludes `body`.
   */
  readonly byteBodyLimit?: number;
  /**
   * Accepts `Idempotency-Key` (../idempotency.ts); requires `auth: "required"` and a JSON
   * response. The pipeline stores and replays the response. The handler must tie its effect to
   * `input.effectId`, which all attempts with one key share and which is a new id for a request
   * without a key: as the primary key of the created row (`insert … on conflict (id) do nothing`,
   * then read the row), as a unique column written in the same transaction, or as the idempotency
   * key of the service that is called. An attempt after a crash then finds the effect of the first
   * one instead of repeating it. A handler that answers 5xx may be called again with the same id.
   */
  readonly idempotent?: true;
  readonly responses: Readonly<Record<number, SuccessResponse>>;
  /** Errors in addition to the ones that follow from the other fields (../openapi/responses.ts). */
  readonly errors: readonly ErrorCode[];
}

/** Returns the response of a success whose body has `status` and these fields. */
export function successResponse<S extends z.core.$ZodLooseShape>(description: string, fields: S) {
  const schema = z.object({ status: z.literal("success"), ...fields });
  return { 200: { description, schema } } as const;
}

/** Returns the contract with its literal types, from which `endpoint` derives a handler's. */
export function contract<const C extends Contract>(definition: C): C {
  return definition;
}
