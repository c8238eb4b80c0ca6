import { config } from "../config.ts";
import { describeApi } from "../http/openapi.ts";
import { contracts } from "../http/registry.ts";

let described: ReturnType<typeof describeApi> | undefined;

/** The OpenAPI document; it cannot change while the process lives. */
export function describeService() {
  described ??= describeApi(contracts, config().PUBLIC_URL);
  return described;
}
