/**
 * Splits code into highlighted pieces by the grammars of Shiki. It runs in a worker of the browser, because
 * a grammar can take long for hostile code, and on the server for the documentation.
 */
import { createJavaScriptRegexEngine } from "@shikijs/engine-javascript";
import {
  type CodeToTokensBaseOptions,
  codeToTokensBase,
  createShikiPrimitiveAsync,
  getLastGrammarState,
  type LanguageRegistration,
  type ShikiPrimitive,
  type ThemeRegistrationRaw,
} from "@shikijs/primitive";
import { type CodeLine, findLanguage, kinds } from "./languages.ts";

/** Longer lines stay plain: they are data, not code that someone reads. */
const MAX_LINE_LENGTH = 2_000;
/** Generous, because the first lines of a language also compile the expressions of its grammar. */
const MAX_LINE_MS = 10_000;

/** Names of TextMate scopes by kind; the more specific name wins. */
const scopes: Readonly<Partial<Record<(typeof kinds)[number], string>>> = {
  comment: "comment, punctuation.definition.comment, markup.quote",
  keyword:
    "keyword, storage, storage.type, variable.language, punctuation.definition.heading.markdown, entity.name.tag",
  string:
    "string, punctuation.definition.string, markup.inline.raw, constant.other.symbol, constant.character.escape, string.regexp",
  constant: "constant, constant.numeric, constant.language, support.constant, markup.list",
  function:
    "entity.name.function, support.function, meta.function-call.generic, entity.name.command",
  type: "entity.name.type, entity.name.class, entity.other.inherited-class, support.type, support.class, markup.heading, entity.name.section",
  property:
    "support.type.property-name, entity.other.attribute-name, variable.parameter, meta.object-literal.key, variable.other.normal.shell",
  inserted: "markup.inserted",
  deleted: "markup.deleted",
};

/** Kinds are encoded as colors, because a theme can only assign colors to tokens. */
const colorOf = (kind: number): string => `#${kind.toString(16).padStart(6, "0")}`;

const theme: ThemeRegistrationRaw = {
  ...{ name: "kinds", type: "light", fg: colorOf(0), bg: "#ffffff" },
  settings: kinds.map((kind, index) => ({
    scope: scopes[kind]?.split(", "),
    settings: { foreground: colorOf(index) },
  })),
};

let primitive: Promise<ShikiPrimitive> | undefined;

const getPrimitive = () =>
  (primitive ??= createShikiPrimitiveAsync({
    themes: [theme],
    langs: [],
    engine: createJavaScriptRegexEngine({ forgiving: true }),
  }));

/** Resolves to null if the language is unknown. @param name as returned by `findLanguage` */
export async function createTokenizer(name: string) {
  const load = grammars[findLanguage(name)?.extension ?? ""];
  if (load === undefined) return null;
  const [grammar, shiki] = await Promise.all([load(), getPrimitive()]);
  await shiki.loadLanguage(grammar.default);
  let grammarState: CodeToTokensBaseOptions["grammarState"];
  return {
    /** Returns the pieces of the next lines. Each call continues where the last one ended. */
    next(text: string): CodeLine[] {
      const lines = codeToTokensBase(shiki, text, {
        lang: grammar.default.at(-1)?.name ?? "text",
        theme: "kinds",
        tokenizeMaxLineLength: MAX_LINE_LENGTH,
        tokenizeTimeLimit: MAX_LINE_MS,
        grammarState,
      });
      grammarState = getLastGrammarState(shiki, lines);
      return lines.map(joinPieces);
    },
  };
}

/** Joins neighbors of one kind; space takes the kind of what stands before it. */
function joinPieces(
  tokens: readonly { readonly content: string; readonly color?: string }[],
): CodeLine {
  const pieces: [text: string, kind: number][] = [];
  for (const { content, color = "" } of tokens) {
    const kind = Number.parseInt(color.slice(1), 16) || 0;
    const last = pieces.at(-1);
    if (last !== undefined && (last[1] === kind || content.trim() === "")) last[0] += content;
    else pieces.push([content, kind]);
  }
  return pieces;
}

/** The grammars of the languages in `languages.ts` by extension, each loaded when it is needed. */

type Load = () => Promise<{ readonly default: LanguageRegistration[] }>;

const grammars: Readonly<Record<string, Load | undefined>> = {
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
