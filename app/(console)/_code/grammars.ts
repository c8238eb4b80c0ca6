/** The grammars of the languages in `languages.ts` by extension, each loaded when it is needed. */
import type { LanguageRegistration } from "@shikijs/primitive";

type Load = () => Promise<{ readonly default: LanguageRegistration[] }>;

export const grammars: Readonly<Record<string, Load | undefined>> = {
  sh: () => import("@shikijs/langs/bash"),
  c: () => import("@shikijs/langs/c"),
  cs: () => import("@shikijs/langs/csharp"),
  css: () => import("@shikijs/langs/css"),
  csv: () => import("@shikijs/langs/csv"),
  diff: () => import("@shikijs/langs/diff"),
  dockerfile: () => import("@shikijs/langs/docker"),
  go: () => import("@shikijs/langs/go"),
  graphql: () => import("@shikijs/langs/graphql"),
  html: () => import("@shikijs/langs/html"),
  http: () => import("@shikijs/langs/http"),
  java: () => import("@shikijs/langs/java"),
  js: () => import("@shikijs/langs/javascript"),
  json: () => import("@shikijs/langs/json"),
  jsx: () => import("@shikijs/langs/jsx"),
  kt: () => import("@shikijs/langs/kotlin"),
  lua: () => import("@shikijs/langs/lua"),
  md: () => import("@shikijs/langs/markdown"),
  php: () => import("@shikijs/langs/php"),
  py: () => import("@shikijs/langs/python"),
  r: () => import("@shikijs/langs/r"),
  rb: () => import("@shikijs/langs/ruby"),
  rs: () => import("@shikijs/langs/rust"),
  sql: () => import("@shikijs/langs/sql"),
  swift: () => import("@shikijs/langs/swift"),
  toml: () => import("@shikijs/langs/toml"),
  tsx: () => import("@shikijs/langs/tsx"),
  ts: () => import("@shikijs/langs/typescript"),
  xml: () => import("@shikijs/langs/xml"),
  yaml: () => import("@shikijs/langs/yaml"),
};
