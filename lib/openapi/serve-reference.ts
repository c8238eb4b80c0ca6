/** The script of the API reference: of the installed package, served from here and cached for good. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { dependencies } from "../../package.json";

const FILE = `scalar-${dependencies["@scalar/api-reference"]}.js`;

/** Its version is in the name, so that browsers need never ask for it again. */
export const referenceScript = `/reference/${FILE}`;

/** 404 for any other name. Next compresses it. */
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
