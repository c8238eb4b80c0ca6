/**
 * `postinstall` of npm: deletes the files of packages that nothing here reads, a quarter of an installation. npm
 * installs a package only as a whole. Runs in any Node from version 20 on.
 */
import { existsSync, readdirSync, realpathSync, rmSync, utimesSync } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** Of paths such as `node_modules/a/node_modules/b/file`. Licenses and types of modules stay. */
const UNREAD = [
  // Source maps, TypeScript (to which only they refer), types for CommonJS, and prose.
  /\.(?:[cm]?[jt]s|css|min)\.map$/,
  /node_modules\/(?:@[\w.-]+\/)?[\w.-]+\/src\/.*(?<!\.d)\.[cm]?tsx?$/,
  /node_modules\/(?!workflow\/).*\.d\.cts$/,
  /\/(?:CHANGELOG|HISTORY)(?:\.md)?$|\.mdx$/,
  // The copy from which the package `node` links its program.
  /node_modules\/node-(?:bin-)?(?:darwin|linux|win)-\w+\//,
  // Other builds of the same code, tests, pages of tools, and parts of a build for other platforms.
  /node_modules\/@e965\/xlsx\/dist\//,
  /node_modules\/@jitl\/quickjs-wasmfile-debug-/,
  /node_modules\/@mixmark-io\/domino\/test\//,
  /node_modules\/@opentelemetry\/[\w-]+\/build\/esnext\//,
  /node_modules\/@redocly\/config\/lib-esm\//,
  /node_modules\/@tailwindcss\/oxide-wasm32-wasi\/node_modules\//,
  /node_modules\/brotli\/(?:build|test)\//,
  /node_modules\/fontkit\/dist\/browser/,
  /node_modules\/just-bash\/dist\/bin\//,
  /node_modules\/mediabunny\/dist\/bundles\//,
  /node_modules\/pdfkit\/js\/pdfkit\.(?!js$|node\.mjs$)/,
  /node_modules\/playwright-core\/lib\/vite\//,
  /node_modules\/sql\.js\/dist\/(?!sql-wasm\.(?:js|wasm)$)/,
  // Only the English of date-fns is used (by `npx workflow inspect`), the character maps of PDF.js, some fonts of
  // DejaVu, and the programming interface of TypeScript 5 (for types of the API).
  /node_modules\/date-fns\/(?:cdn\.|fp\/|locale\/(?!_lib|en-US|types))/,
  /node_modules\/pdfjs-dist\/(?:build|image_decoders|legacy|standard_fonts|types|wasm|web)\//,
  /node_modules\/dejavu-fonts-ttf\/(?:status\.txt|ttf\/(?!DejaVuSans(?:Condensed.*|Mono)\.ttf))/,
  /api-types-generator\/node_modules\/typescript\/lib\/(?!typescript\.(?:js|d\.ts)$)/,
];

/** Whether a path leads through a link, as to the packages of this repository, which are not copies. */
const isLinked = (path) => existsSync(path) && !realpathSync(path).endsWith(path);

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
for (const file of readdirSync(join(root, "node_modules"), { recursive: true })) {
  const path = join("node_modules", file);
  const isUnread = UNREAD.some((pattern) => pattern.test(path.replaceAll(sep, "/")));
  if (isUnread && !isLinked(path)) rmSync(join(root, path), { recursive: true, force: true });
}
// npm trusts its record of the packages only if it is newer than they are.
const record = join(root, "node_modules", ".package-lock.json");
if (existsSync(record)) utimesSync(record, new Date(), new Date());
