/** The programs and packages of the renderer, which a deployment may leave out. */
import { existsSync } from "node:fs";
import { runtimePath } from "../../../platform/runtime-path.ts";

/** Without codecs, images can still be rendered. */
const packages = { images: ["sharp"], videos: ["sharp", "node-webcodecs"] } as const;

/** Not from import.meta.url, because the server is bundled and the renderer is not. */
export const rendererProgram = (root: string): string =>
  runtimePath(root, "lib", "content", "adapters", "embedded", "render", "main.ts");

/** Returns whether everything is installed that the renderer loads for them. */
export function canRender(what: keyof typeof packages): boolean {
  const root = process.cwd();
  const needed = packages[what].map((name) => runtimePath(root, "node_modules", name));
  return [rendererProgram(root), ...needed].every((path) => existsSync(path));
}
