/**
 * The files of messages. Before the model is called, a file at a data or https URL becomes a file of the
 * sandbox, and the stored part refers to it: neither the message nor a turn keeps the bytes, and no
 * later turn fetches them again.
 */

import { refusalIn } from "@platform/agent/download-file";
import { isLost, markUnfetchable, markUnstorable } from "@platform/agent/show-files";
import { log } from "@platform/kit/log";
import { isSandboxError, type Sandbox } from "@platform/sandbox/port";
import { storeUpload } from "@platform/sandbox/store-upload";
import type { FileUIPart, UIMessage } from "ai";

/** More files of a conversation that a client sends again and again stay as they are. */
const MAX_STORED_FILES = 50;

const HOME_URL = "sandbox:/home/agent/";

export interface StoredFiles {
  readonly history: readonly UIMessage[];
  /** The messages of `history` whose parts differ from the stored ones. */
  readonly changed: readonly UIMessage[];
}

/**
 * Moves the files of a history to the sandbox. A file that the sandbox refuses keeps its URL; it is
 * marked and not tried again, as is one that cannot be fetched. Safe to repeat.
 * @param fetchFile resolves to the bytes at a URL
 * @param signal the stop of the turn: files that it keeps from being fetched are not marked
 */
export async function storeFiles(
  stored: readonly UIMessage[],
  sandbox: Sandbox,
  fetchFile: (url: URL) => Promise<Uint8Array>,
  signal: AbortSignal,
): Promise<StoredFiles> {
  const changed: UIMessage[] = [];
  const history: UIMessage[] = [];
  let left = MAX_STORED_FILES;
  const read = async ({ url }: FileUIPart) => {
    if (isDataUrl(url)) return decode(url);
    return signal.aborted ? null : fetchFile(new URL(url)).catch(refusalIn);
  };
  for (const message of stored.toReversed()) {
    const parts: UIMessage["parts"] = [];
    for (const part of message.parts) {
      if (message.role !== "user" || part.type !== "file" || !isNew(part) || left-- <= 0) {
        parts.push(part);
        continue;
      }
      const bytes = await read(part);
      if (bytes instanceof Uint8Array) parts.push(await store(part, bytes, sandbox));
      else parts.push(signal.aborted ? part : markUnfetchable(part, bytes));
    }
    const isChanged = parts.some((part, index) => part !== message.parts[index]);
    const updated = isChanged ? { ...message, parts } : message;
    if (isChanged) changed.push(updated);
    history.unshift(updated);
  }
  return { history, changed };
}

async function store(part: FileUIPart, bytes: Uint8Array, sandbox: Sandbox): Promise<FileUIPart> {
  const subtype = /^[\w-]+\/([a-z0-9]+)$/.exec(part.mediaType)?.[1];
  const name = part.filename || (subtype === undefined ? "file" : `file.${subtype}`);
  try {
    const path = await storeUpload(sandbox, name, bytes);
    return { ...part, url: HOME_URL + path };
  } catch (error) {
    if (isSandboxError(error) && !["refused", "too_large"].includes(error.code)) return part;
    // Marked once: what fails for the name or the content of a file fails in every turn of the chat.
    log().warn({ err: error, name }, "a file of a message could not be stored");
    return markUnstorable(part);
  }
}

const isDataUrl = (url: string): boolean => /^data:/i.test(url);

const isNew = (part: FileUIPart): boolean =>
  !isLost(part) && (isDataUrl(part.url) || (/^https:/i.test(part.url) && URL.canParse(part.url)));

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

/** Returns whether a message has a file, which the model gets only after it was stored in the sandbox. */
export const hasFiles = (history: readonly Pick<UIMessage, "parts">[]): boolean =>
  history.some(({ parts }) =>
    parts.some((part) =>
      part.type === "steering-message" ? hasFiles([part]) : part.type === "file",
    ),
  );
