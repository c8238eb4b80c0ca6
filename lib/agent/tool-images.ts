/**
 * Images of tool results. They are files of the sandbox, because neither a message nor a turn keeps bytes: a
 * result names the path, and a model that reads images gets the file after the results of its step.
 */
import type { ModelMessage, ToolModelMessage } from "ai";
import { isSandboxError, type Sandbox } from "../sandbox/port.ts";
import { NOTE } from "./prompt.ts";
import type { StepResult } from "./step-result.ts";
import { isMcpName } from "./tools/mcp-tool.ts";

/** The first bytes of the image types that most models accept. */
const SIGNATURES = {
  "image/png": /^\x89PNG\r\n/,
  "image/jpeg": /^\xff\xd8\xff/,
  "image/gif": /^GIF8[79]a/,
  "image/webp": /^RIFF.{4}WEBP/s,
};
const MAX_BYTES = 5 * 1024 * 1024;
/** Of a turn. */
const MAX_SHOWN = 10;
const PATH = /\/home\/agent\/\.results\/image-[0-9a-f]{16}\.(?:png|jpeg|gif|webp)/g;
const URL_START = "sandbox:";

/** Returns the type of an image that models accept; null for everything else. */
export function imageTypeOf(bytes: Uint8Array): string | null {
  if (bytes.byteLength > MAX_BYTES) return null;
  const start = Buffer.from(bytes.subarray(0, 16)).toString("latin1");
  return Object.entries(SIGNATURES).find(([, signature]) => signature.test(start))?.[0] ?? null;
}

/** @param digest SHA-256 of its bytes, in hexadecimal digits */
export const imagePath = (digest: string, mediaType: string): string =>
  `/home/agent/.results/image-${digest.slice(0, 16)}.${mediaType.slice("image/".length)}`;

/**
 * Returns the message with the images of results, as their paths; null without any, and once the turn has shown
 * ten.
 */
export function imagesMessage(
  results: ToolModelMessage | null,
  steps: readonly StepResult[],
): ModelMessage | null {
  const shown = steps.flatMap(({ messages }) => messages).flatMap(pathsOf);
  const named = (results?.content ?? []).flatMap((part) =>
    part.type === "tool-result" && isMcpName(part.toolName)
      ? (JSON.stringify(part.output).match(PATH) ?? [])
      : [],
  );
  const paths = [...new Set(named)]
    .filter((path) => !shown.includes(path))
    .slice(0, Math.max(0, MAX_SHOWN - shown.length));
  if (paths.length === 0) return null;
  const text = `${NOTE} The images of these results, in their order: ${paths.join(", ")}`;
  return {
    role: "user",
    content: [
      { type: "text", text },
      ...paths.map((path) => ({
        type: "file" as const,
        mediaType: `image/${path.slice(path.lastIndexOf(".") + 1)}`,
        data: URL_START + path,
      })),
    ],
  };
}

/** Returns the paths of the images that a message has. */
export const pathsOf = ({ role, content }: ModelMessage): string[] =>
  role === "user" && typeof content !== "string"
    ? content.flatMap((part) =>
        part.type === "file" && isToolImage(part.data) ? [part.data.slice(URL_START.length)] : [],
      )
    : [];

/** Returns whether the data of a file are the path of an image of a result. */
export const isToolImage = (data: unknown): data is string =>
  typeof data === "string" && data.startsWith(`${URL_START}/home/agent/.results/image-`);

/** Returns the message without the images of results. */
export const withoutImages = (message: ModelMessage): ModelMessage =>
  message.role !== "user" || typeof message.content === "string"
    ? message
    : {
        ...message,
        content: message.content.filter((part) => part.type !== "file" || !isToolImage(part.data)),
      };

const opened = new WeakMap<ModelMessage, Promise<ModelMessage>>();

/** Returns the messages with the bytes of the images that they refer to. One that is gone is left out. */
export const withImages = (messages: readonly ModelMessage[], sandbox: Sandbox) =>
  Promise.all(
    messages.map((message) => {
      if (pathsOf(message).length === 0) return message;
      const known = opened.get(message) ?? openImages(message, sandbox);
      opened.set(message, known);
      return known;
    }),
  );

async function openImages(message: ModelMessage, sandbox: Sandbox): Promise<ModelMessage> {
  const files = await Promise.all(
    pathsOf(message).map(async (path) => {
      const bytes = await sandbox.readFile(path).catch((error: unknown) => {
        if (isSandboxError(error)) return null;
        throw error;
      });
      const mediaType = bytes && imageTypeOf(bytes);
      if (!bytes || !mediaType) return [];
      return [{ type: "file" as const, mediaType, data: Buffer.from(bytes).toString("base64") }];
    }),
  );
  const { content } = withoutImages(message);
  return { role: "user", content: [...(content as []), ...files.flat()] };
}
