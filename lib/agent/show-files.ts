import type { FileUIPart, UIMessage } from "ai";
import { isSandboxError, type Sandbox } from "../sandbox/port.ts";

const SANDBOX_URL = /^sandbox:\/home\/agent\//i;
const DATA_URL = /^data:[^,]*,/i;
/** The image types that most models accept. */
const IMAGE = /^image\/(?:png|jpeg|gif|webp)$/i;
const MAX_IMAGE_BYTES = 5 * 1024 * 1024;
/** Of a conversation, the newest first. */
const MAX_IMAGES = 10;

/**
 * Marks a file part whose URL could not be fetched, in its provider metadata.
 * @param refusal which network policy has refused it, as a sentence
 */
export const markUnfetchable = (part: FileUIPart, refusal: string | null): FileUIPart => ({
  ...part,
  providerMetadata: {
    ...part.providerMetadata,
    agentPlatform: { unfetchable: refusal ?? true },
  },
});

export const isUnfetchable = ({ providerMetadata }: FileUIPart): boolean =>
  providerMetadata?.agentPlatform?.unfetchable !== undefined;

/**
 * Returns the messages as the model gets them: each file is named, one in the sandbox by its path, and
 * an image is shown, too. No part refers to a URL that the call of a model would have to fetch.
 */
export async function showFiles(
  history: readonly UIMessage[],
  sandbox: Sandbox,
): Promise<readonly UIMessage[]> {
  const shown: UIMessage[] = [];
  let images = MAX_IMAGES;
  const show = async <P extends Pick<UIMessage, "parts">>(
    given: P,
    isUsers: boolean,
  ): Promise<P> => {
    const parts: UIMessage["parts"] = [];
    for (const part of given.parts) {
      if (part.type !== "file" || (!isUsers && DATA_URL.test(part.url))) {
        parts.push(part.type === "steering-message" ? await show(part, true) : part);
        continue;
      }
      parts.push({ type: "text", text: describe(part) });
      const image = IMAGE.test(part.mediaType) && images > 0 ? await open(part, sandbox) : null;
      if (!image) continue;
      images -= 1;
      parts.push(image);
    }
    const isSame = parts.every((part, index) => part === given.parts[index]);
    return isSame ? given : { ...given, parts };
  };
  for (const message of history.toReversed()) {
    shown.unshift(await show(message, message.role === "user"));
  }
  return shown.every((message, index) => message === history[index]) ? history : shown;
}

/** The path is relative to the home, where commands start. */
function describe(part: FileUIPart): string {
  const { url, filename, mediaType } = part;
  if (SANDBOX_URL.test(url)) {
    return `Attached file: ${JSON.stringify(url.replace(SANDBOX_URL, ""))} (${mediaType}), in the sandbox's home`;
  }
  const refusal = part.providerMetadata?.agentPlatform?.unfetchable;
  const problem = isUnfetchable(part)
    ? `could not be fetched from its URL${typeof refusal === "string" ? `. ${refusal}` : ""}`
    : "could not be stored in the sandbox";
  return `Attached file: ${JSON.stringify(filename ?? "")} (${mediaType}), which ${problem}`;
}

/** Null for an image that is missing, elsewhere or too large. */
async function open(part: FileUIPart, sandbox: Sandbox): Promise<FileUIPart | null> {
  if (DATA_URL.test(part.url)) return part;
  if (!SANDBOX_URL.test(part.url)) return null;
  try {
    const bytes = await sandbox.readFile(part.url.replace(SANDBOX_URL, ""));
    if (bytes.byteLength > MAX_IMAGE_BYTES) return null;
    const data = Buffer.from(bytes).toString("base64");
    return { ...part, url: `data:${part.mediaType};base64,${data}` };
  } catch (error) {
    if (isSandboxError(error)) return null;
    throw error;
  }
}
