import { sep } from "node:path";

/**
 * Joins the parts of a path that exists only at run time, or that no bundle may hold. The bundler takes
 * all paths that `path.join` could refer to as files of the server: on Vercel, every function would carry
 * them.
 */
export const runtimePath = (...parts: readonly string[]): string => parts.join(sep);
