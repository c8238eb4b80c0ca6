/**
 * The rendering child: it does one thing and ends. It runs under Node's permission model with an
 * empty environment, because what it opens comes from strangers and goes to decoders written in C;
 * see `render-process.ts` for how it is started. Plain TypeScript under Node, outside any bundle.
 */
import type { RenderReply, RenderRequest } from "../protocol.ts";
import { UnusableInput } from "./unusable-input.ts";

/** Only what the job needs is loaded: images are made also where there are no codecs. */
async function answer(request: RenderRequest): Promise<RenderReply> {
  if (request.op === "video") {
    const { renderVideo } = await import("./render-video.ts");
    return renderVideo(request.order, request.path);
  }
  if (request.op === "images") {
    const { renderImages } = await import("./render-images.ts");
    return renderImages(request.order, request.paths);
  }
  const { probe } = await import("./probe.ts");
  return probe(request.path);
}

function describe(error: unknown): RenderReply {
  if (error instanceof UnusableInput) return { op: "unusable", message: error.message };
  return { op: "failed", reason: error instanceof Error ? `${error.stack}` : String(error) };
}

const send = (reply: RenderReply, then?: () => void) =>
  process.send?.(reply, undefined, undefined, then);

process.once("message", (request: RenderRequest) => {
  answer(request)
    .catch(describe)
    // Without waiting for the decoders' threads to let go of what they hold.
    .then((reply) => send(reply, () => process.exit(0)));
});
// The server has gone, and with it whoever wanted this.
process.once("disconnect", () => process.exit(1));
send({ op: "ready" });
