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
    p_hash: hashKey(key, env.API_KEY_SECRET ?? ""),
    p_account_id: null,
    p_organization_id: null,
    p_artist_id: null,
    p_address: null,
    p_address_limit: 12_000,
    p_account_limit: 1_000_000,
  };
  const sameCall = bareCall(context, "authenticate_key", args);
  await compareRoutes("sign-in by key: GET against its call", models, sameCall);
};
