/**
 * The rendering child, which `render-process.ts` starts: it runs one job and exits. It runs under
 * Node's permission model with an empty environment, because its inputs are untrusted and are decoded
 * by native code. Node runs this file directly; it is not part of a bundle.
 */
import type { RenderReply, RenderRequest } from "../render-process.ts";
import { renderImages, UnusableInput } from "./pictures.ts";

/** Loads the codecs only for videos, so images can be rendered where none are installed. */
async function run(request: RenderRequest & { names: string[] }): Promise<RenderReply> {
  if (request.op === "image") {
    await renderImages(request.order, request.names);
  } else {
    const { editVideo, renderVideo } = await import("./render-video.ts");
    const [name = ""] = request.names;
    if (request.op === "video") await renderVideo(request.order, name);
    else await editVideo(request.video, request.steps, name);
  }
  return { op: "done" };
}

function describe(error: unknown): RenderReply {
  if (!(error instanceof UnusableInput)) return { op: "failed", reason: textOf(error) };
  return { op: "unusable", message: error.message, reason: textOf(error.cause) };
}

const textOf = (error: unknown) => (error instanceof Error ? `${error.stack}` : String(error));

const send = (reply: RenderReply, then?: () => void) =>
  process.send?.(reply, undefined, undefined, then);

process.once("message", (request: string) => {
  run(JSON.parse(request))
    .catch(describe)
    // Exits without waiting for the decoders' threads to release their resources.
    .then((reply) => send(reply, () => process.exit(0)));
});
// The server has exited, so the result is no longer needed.
process.once("disconnect", () => process.exit(1));
send({ op: "ready" });
