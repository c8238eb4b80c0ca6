/**
 * Loads the modules in `app` from their sources, without Next.js: resolves `@/…` from the root of the project, as
 * `tsconfig.json` does. The `after` of Next.js keeps a function of a platform alive, which a process here is anyway.
 */
import { registerHooks } from "node:module";

const root = new URL("../", import.meta.url);
const NEXT_SERVER =
  "data:text/javascript,export const after = (work) => void work.catch(console.error)";

registerHooks({
  resolve(specifier, context, next) {
    if (specifier === "next/server") return next(NEXT_SERVER, context);
    return next(
      specifier.startsWith("@/") ? new URL(specifier.slice(2), root).href : specifier,
      context,
    );
  },
});
