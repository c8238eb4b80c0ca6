/** Serves the script of the API reference from the installed package. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { dependencies } from "../../package.json";

const FILE = `scalar-${dependencies["@scalar/api-reference"]}.js`;

/** The path contains the version, so that browsers can cache the script for ever. */
export const referenceScript = `/reference/${FILE}`;

/** Responds with the script, or 404 for any other name. Next compresses it. */
export async function serveReference(
  _request: Request,
  context: { readonly params: Promise<{ readonly file: string }> },
): Promise<Response> {
  const { file } = await context.params;
  if (file !== FILE) return new Response("Not found\n", { status: 404 });
  const folder = join(process.cwd(), "node_modules/@scalar/api-reference/dist/browser");
  return new Response(new Uint8Array(await readFile(join(folder, "standalone.js"))), {
    headers: {
      "content-type": "text/javascript; charset=utf-8",
      "cache-control": "public, max-age=31536000, immutable",
      "x-content-type-options": "nosniff",
    },
  });
}
