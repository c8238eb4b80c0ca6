/**
 * The cost of authentication: an endpoint that only answers from memory, against a bare route that
 * does nothing, and against one that makes the same call.
 */
import { hashKey } from "../lib/identity/keys/key-format.ts";
import { bareCall, compareRoutes, endpoint } from "./compare-routes.ts";
import type { Bench } from "./context.ts";

export const benchSignIn: Bench = async (context) => {
  const { key, env, bareUrl } = context;
  const models = endpoint(context, "/api/models");
  const nothing = { url: `${bareUrl}/api/nothing` };
  await compareRoutes("sign-in by key: GET against a route without", models, nothing);
  const args = {
    hash: hashKey(key, env.API_KEY_SECRET ?? ""),
    accountId: null,
    organizationId: null,
    artistId: null,
    address: null,
    addressLimit: 12_000,
    accountLimit: 1_000_000,
  };
  const sameCall = bareCall(context, "authenticate_key", args);
  await compareRoutes("sign-in by key: GET against its call", models, sameCall);
};
