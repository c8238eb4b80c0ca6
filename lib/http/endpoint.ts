/**
 * Joins a contract to its use case. The stages around the use case are in pipeline.ts.
 *
 *     GET: endpoint(getSessionContract, async ({ caller, params }) => { … })
 */

import type { AppError } from "@platform/endpoint/contract/app-error";
import type { Contract } from "@platform/endpoint/contract/contract";
import { validator } from "@platform/endpoint/read-input";
import type { Logger } from "pino";
import type { z } from "zod";
import type { Caller } from "../identity/credentials/caller.ts";
import type { App } from "../parts.ts";
import { currentApp } from "../platform/current-app.ts";
import { openExchange, type Plan } from "./exchange.ts";
import { serve } from "./pipeline.ts";

type Output<S> = S extends z.ZodType ? z.output<S> : undefined;

interface Input<C extends Contract> {
  /** The parts of this process, for the use case to take those that it needs. */
  readonly app: App;
  readonly caller: C["auth"] extends "required"
    ? Caller
    : C["auth"] extends "optional"
      ? Caller | null
      : null;
  readonly params: Output<C["params"]>;
  readonly query: Output<C["query"]>;
  readonly body: Output<C["body"]>;
  /** The UUID that all attempts of an `idempotent` request share (see `Contract.idempotent`). */
  readonly effectId: C["idempotent"] extends true ? string : null;
  /** The value of `Idempotency-Key`; null when it is absent or the contract takes none. */
  readonly idempotencyKey: string | null;
  /** For its headers and its `signal`; its body has been consumed where the contract has one. */
  readonly request: Request;
  readonly requestId: string;
  /** Carries the request id. */
  readonly log: Logger;
}

interface ResponseHeaders {
  readonly headers?: Readonly<Record<string, string>>;
}
/** A handler's literals are inferred as constants, so its arrays are readonly. */
type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;
type StatusField<S> = S extends 200 ? { readonly status?: S } : { readonly status: S };
type BodyField<R> = R extends { readonly schema: infer S extends z.ZodType }
  ? { readonly body: DeepReadonly<z.input<S>> }
  : { readonly body?: undefined };

/** A success that the contract declares; `status` defaults to 200. */
export type Success<C extends Contract> = SuccessOf<C["responses"]>;
type SuccessOf<R> = {
  [S in keyof R]: StatusField<S> & BodyField<R[S]> & ResponseHeaders;
}[keyof R];

type RouteContext = { params: Promise<Record<string, string | string[] | undefined>> };
export type RouteHandler = (request: Request, context: RouteContext) => Promise<Response>;

export function endpoint<
  const C extends Contract,
  const R extends AppError | Response | Success<C>,
>(contract: C, handle: (input: Input<C>) => Promise<R>): RouteHandler {
  const access = [contract.accountAccess, contract.organizationAccess, contract.artistAccess];
  const plan: Plan = {
    contract,
    validate: validator(contract),
    bodyNamesAccounts: access.some((field) => field?.in === "body"),
    // The compiler cannot follow that the contract's schemas and `auth` produced these values.
    handle: (input) => handle(input as Input<C>),
  };
  return (request, context) =>
    serve(openExchange(currentApp(), plan, request), contract.params && context.params);
}
