/**
 * The files of messages. A data URL becomes a file of the sandbox before the model is called, and the
 * stored part refers to it, so that neither the message nor a turn keeps the bytes.
 */
import type { FileUIPart, UIMessage } from "ai";
import { isSandboxError, type Sandbox } from "../sandbox/port.ts";
import { storeUpload } from "../sandbox/store-upload.ts";
import { type ActiveTurn, storeFileParts } from "./store/turns.ts";

/** More files of a conversation that a client sends again and again stay as they are. */
const MAX_LANDED_FILES = 50;

const HOME_URL = "sandbox:/home/agent/";

/**
 * Returns the history with its data URLs replaced by files in the sandbox. A file that the sandbox
 * refuses keeps its URL. Safe to repeat.
 */
export async function landFiles(
  turnId: string,
  { history }: ActiveTurn,
  sandbox: Sandbox,
): Promise<readonly UIMessage[]> {
  const changed: UIMessage[] = [];
  const result: UIMessage[] = [];
  let left = MAX_LANDED_FILES;
  for (const message of history.toReversed()) {
    const parts: UIMessage["parts"] = [];
    for (const part of message.parts) {
      const isNew = message.role === "user" && part.type === "file" && isDataUrl(part);
      parts.push(isNew && left-- > 0 ? await land(part, sandbox) : part);
    }
    const isChanged = parts.some((part, index) => part !== message.parts[index]);
    const landed = isChanged ? { ...message, parts } : message;
    if (isChanged) changed.push(landed);
    result.unshift(landed);
  }
  if (changed.length === 0) return history;
  await storeFileParts(turnId, changed, result);
  return result;
}

async function land(part: FileUIPart, sandbox: Sandbox): Promise<FileUIPart> {
  const subtype = /^[\w-]+\/([a-z0-9]+)$/.exec(part.mediaType)?.[1];
  const name = part.filename || (subtype === undefined ? "file" : `file.${subtype}`);
  try {
    const path = await storeUpload(sandbox, name, decode(part.url));
    return { ...part, url: HOME_URL + path };
  } catch (error) {
    if (isSandboxError(error)) return part;
    throw error;
  }
}

const isDataUrl = ({ url }: FileUIPart): boolean => /^data:/i.test(url);

function decode(url: string): Uint8Array {
  const comma = url.indexOf(",");
  const data = url.slice(comma + 1);
  if (/;base64$/i.test(url.slice(0, comma))) return Buffer.from(data, "base64");
  try {
    return Buffer.from(decodeURIComponent(data));
  } catch {
    return Buffer.from(data);
  }
}
