import { mediaRequest } from "./media-request.ts";
import { agentTool } from "./tool.ts";

export const makeMedia = agentTool({
  name: "make_media",
  description: `Generate an image or a video, which costs money, and get {path, url, width, height, format, bytes}: path is the file in the sandbox, and anyone who knows url can read it.
- Stores take a cover of 1:1 in 4k.
- placeholder: true means that no model has made it, for the reason in notice. Say so to the user, and never present it as the work.
- It can take minutes. A failed generation is not repeated unchanged.`,
  input: mediaRequest,
  execute: (request, context) => context.makeMedia(request),
});
