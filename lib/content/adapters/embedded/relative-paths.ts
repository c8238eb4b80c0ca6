/** The paths of a job as its child process uses them. */
import { realpathSync } from "node:fs";
import { basename, dirname, relative } from "node:path";
import { runtimePath } from "../../../platform/runtime-path.ts";
import type { EditStep, MediaFile } from "../../port.ts";
import type { RenderRequest } from "./protocol.ts";

/**
 * Returns the request with all paths relative to the folder, which is the child's working directory.
 * The child's user may not be allowed to pass through the folders above, which belong to the server.
 *
 * @param folder a real path, without symbolic links
 * @param lent where the child reads an input, if not at the input's own path
 */
export function withRelativePaths(
  request: RenderRequest,
  folder: string,
  lent: ReadonlyMap<string, string>,
): RenderRequest {
  const output = (path: string): string =>
    relative(folder, runtimePath(realpathSync(dirname(path)), basename(path)));
  const input = (path: string): string => {
    const real = realpathSync(path);
    return relative(folder, lent.get(real) ?? real);
  };
  const file = (one: MediaFile): MediaFile => ({ ...one, path: input(one.path) });
  const step = (one: EditStep): EditStep =>
    one.kind === "audio" ? { ...one, audio: file(one.audio) } : one;
  switch (request.op) {
    case "images": {
      const { order, paths } = request;
      const references = order.references.map(file);
      return { op: "images", order: { ...order, references }, paths: paths.map(output) };
    }
    case "video": {
      const { order, path } = request;
      const { image, endImage, video, audio } = order;
      const files = {
        image: image && file(image),
        endImage: endImage && file(endImage),
        video: video && file(video),
        audio: audio && file(audio),
      };
      return {
        op: "video",
        order: { ...order, ...files },
        path: output(path),
      };
    }
    case "edit": {
      const { steps, path } = request;
      return {
        op: "edit",
        input: input(request.input),
        steps: steps.map(step),
        path: output(path),
      };
    }
  }
}
