/**
 * Joins contracts to use cases. The stages around a use case are in pipeline.ts.
 *
 *     const endpoint = createEndpoint(service, currentApp);
 *     GET: endpoint(getSessionContract, async ({ caller, params }) => { … })
 */

import type { Logger } from "pino";
import type { z } from "zod";
import type { AppError } from "./contract/app-error.ts";
import type { Contract } from "./contract/contract.ts";
import { openExchange, type Plan, type Principal, type Service } from "./exchange.ts";
import type { RouteHandler } from "./methods.ts";
import { serve } from "./pipeline.ts";
import { validator } from "./read-input.ts";

type Output<S> = S extends z.ZodType ? z.output<S> : undefined;

interface Input<C extends Contract, Caller, App> {
  /** The parts of this process, from which the use case selects. */
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
type Success<C extends Contract> = SuccessOf<C["responses"]>;
type SuccessOf<R> = {
  [S in keyof R]: StatusField<S> & BodyField<R[S]> & ResponseHeaders;
}[keyof R];

/**
 * Returns the function that joins a contract to its use case.
 * @param currentApp returns the parts of the process
 */
export const createEndpoint =
  <Caller extends Principal, App>(service: Service<Caller, App>, currentApp: () => App) =>
  <const C extends Contract, const R extends AppError | Response | Success<C>>(
    contract: C,
    handle: (input: Input<C, Caller, App>) => Promise<R>,
  ): RouteHandler => {
    const plan: Plan = {
      contract,
      validate: validator(contract),
      handle({ app, caller, input, request, requestId, log }, { id: effectId, idempotencyKey }) {
        const context = { app, caller, effectId, idempotencyKey, request, requestId, log };
        const given: object = { ...input, ...context };
        // The compiler cannot follow that the contract's schemas and `auth` produced these values.
        return handle(given as Input<C, Caller, App>);
      },
    };
    return (request, context) =>
      serve(openExchange(service, currentApp(), plan, request), contract.params && context.params);
  };
