/** The programming languages whose code is highlighted. Their grammars are in `tokenize.ts`. */

export interface Language {
  /** How people write it: `TypeScript`. */
  readonly label: string;
  /** The extension of its files, which is also another name for the language. */
  readonly extension: string;
}

/** Label, extension, and further names and extensions. */
const languages: readonly (readonly [label: string, extension: string, aliases: string])[] = [
  ["Bash", "sh", "bash shell zsh shellscript"],
  ["C", "c", "h"],
  ["C#", "cs", "csharp c#"],
  ["CSS", "css", "scss less"],
  ["CSV", "csv", ""],
  ["Diff", "diff", "patch"],
  ["Dockerfile", "dockerfile", "docker"],
  ["Go", "go", "golang"],
  ["GraphQL", "graphql", "gql"],
  ["HTML", "html", "htm svg"],
  ["HTTP", "http", ""],
  ["Java", "java", ""],
  ["JavaScript", "js", "javascript mjs cjs"],
  ["JSON", "json", "jsonl json5 jsonc ndjson"],
  ["JSX", "jsx", ""],
  ["Kotlin", "kt", "kotlin"],
  ["Lua", "lua", ""],
  ["Markdown", "md", "markdown"],
  ["PHP", "php", ""],
  ["Python", "py", "python"],
  ["R", "r", ""],
  ["Ruby", "rb", "ruby"],
  ["Rust", "rs", "rust"],
  ["SQL", "sql", "postgres postgresql"],
  ["Swift", "swift", ""],
  ["TOML", "toml", "ini conf"],
  ["TSX", "tsx", ""],
  ["TypeScript", "ts", "typescript mts cts"],
  ["XML", "xml", "rss musicxml"],
  ["YAML", "yaml", "yml"],
];

const byName = new Map<string, Language>(
  languages.flatMap(([label, extension, aliases]) =>
    [extension, ...aliases.split(" ")]
      .filter((name) => name !== "")
      .map((name) => [name, { label, extension }] as const),
  ),
);

/** @param name a language as Markdown names it after a fence, or the extension of a file */
export const findLanguage = (name: string): Language | undefined => byName.get(name.toLowerCase());

/** Returns the extension of a file name, or the whole name if it has none, such as `Dockerfile`. */
export const languageOfPath = (path: string): string =>
  (path.split("/").at(-1) ?? "").split(".").at(-1) ?? "";

/** The kinds of tokens; `code.css` has a color for each. */
export const kinds = [
  "plain",
  "comment",
  "keyword",
  "string",
  "constant",
  "function",
  "type",
  "property",
  "inserted",
  "deleted",
] as const;

/** A text and the index of its kind in `kinds`. */
type CodePiece = readonly [text: string, kind: number];
export type CodeLine = readonly CodePiece[];
