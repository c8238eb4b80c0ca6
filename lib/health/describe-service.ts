import { config } from "../config.ts";
import { examples } from "../http/examples.ts";
import { describeApi } from "../http/openapi.ts";
import { operations } from "../http/registry.ts";

let described: ReturnType<typeof describeApi> | undefined;

/** The OpenAPI document; it cannot change while the process lives. */
export function describeService() {
  described ??= describeApi(operations, examples, config().PUBLIC_URL);
  return described;
}
