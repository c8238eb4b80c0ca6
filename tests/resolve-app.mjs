/** Lets Node resolve `@/…`, as the modules below `app` write it, to a path from the root of the project. */
import { registerHooks } from "node:module";

const root = new URL("../", import.meta.url);

registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier.startsWith("@/") ? new URL(specifier.slice(2), root).href : specifier, context),
});
