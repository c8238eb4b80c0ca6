import { config } from "../platform/config.ts";
import { describeApi } from "./document.ts";
import { examples } from "./examples.ts";
import { operations } from "./registry.ts";

let described: ReturnType<typeof describeApi> | undefined;

/** The OpenAPI document; it cannot change while the process lives. */
export function describeService() {
  described ??= describeApi(operations, examples, config().PUBLIC_URL);
  return described;
}
