/**
 * Addresses in the sandbox of uploaded files of unsent messages. Local storage keeps them over a
 * reload, like the text. This module is loaded with the first file.
 */

import { visibleName } from "@platform/kit/visible-name";
import type { listSandboxFilesContract } from "@/lib/sandbox/contract.ts";
import { type Answer, api, loadImage } from "../../_api/request.ts";
import {
  type ChatAddress,
  type Destination,
  isPreviewable,
  sandboxFilePath,
  type UploadedFile,
} from "./attachment.ts";
import { keptFilesKey, readList, writeList } from "./drafts.ts";

interface Files {
  readonly destination: Destination;
  uploaded(): readonly UploadedFile[];
  restore(files: readonly UploadedFile[]): void;
  drop(urls: readonly string[], notice: string): void;
  showPreview(url: string, previewUrl: string): void;
  subscribe(listener: () => void): unknown;
}

interface KeptDraft extends ChatAddress {
  /** The chat's id, or the name of the page that creates one. */
  readonly draftKey: string;
  readonly files: readonly UploadedFile[];
}

const MAX_DRAFTS = 50;
const MAX_PREVIEW_BYTES = 5 * 1024 * 1024;

/** Puts the kept files of a draft back, and keeps them up to date from now on. */
export function keepFiles(attachments: Files): void {
  const { destination } = attachments;
  const { draftKey } = destination;
  // Another user who signs in later in this tab has a different key.
  const storageKey = keptFilesKey();
  const readKept = () => readList<KeptDraft>("localStorage", () => storageKey);
  const kept = readKept().find((draft) => draft.draftKey === draftKey || draft.chatId === draftKey);
  let chat: ChatAddress | null = kept ?? null;
  const save = async () => {
    if (chat === null && attachments.uploaded().length > 0) {
      const found = await destination.findChat();
      if ("error" in found) return;
      chat = found;
    }
    if (chat === null) return;
    const { sessionId, chatId } = chat;
    const files = attachments.uploaded();
    const others = readKept().filter((draft) => draft.chatId !== chatId);
    const own = files.length === 0 ? [] : [{ draftKey, sessionId, chatId, files }];
    writeList("localStorage", () => storageKey, [...others, ...own].slice(-MAX_DRAFTS));
    // The next file may be for another chat.
    if (files.length === 0) chat = null;
  };
  if (kept) {
    destination.resume?.(kept);
    attachments.restore(kept.files);
    void compareWithSandbox(attachments, kept);
  }
  attachments.subscribe(() => void save());
  void save();
}

/** Drops files that have vanished from the sandbox, and shows the images of the others. */
async function compareWithSandbox(attachments: Files, kept: KeptDraft): Promise<void> {
  const { sessionId, files } = kept;
  const gone: UploadedFile[] = [];
  await Promise.all(
    files.map(async (file) => {
      if (await isGone(sessionId, pathOf(file))) gone.push(file);
      else if (isPreviewable(file.mediaType) && (file.size ?? 0) <= MAX_PREVIEW_BYTES) {
        const image = await loadImage(sandboxFilePath(sessionId, pathOf(file)), file.mediaType);
        if (image !== null) attachments.showPreview(file.url, image);
      }
    }),
  );
  if (gone.length === 0) return;
  attachments.drop(
    gone.map(({ url }) => url),
    gone.length === 1
      ? `${visibleName(gone[0]?.filename ?? "")} is no longer among the files of this chat. Attach it again.`
      : `${gone.length} files are no longer among the files of this chat. Attach them again.`,
  );
}

async function isGone(sessionId: string, path: string): Promise<boolean> {
  const query = new URLSearchParams({ sessionId, path: path.slice(0, path.lastIndexOf("/")) });
  const listed = await api<Answer<typeof listSandboxFilesContract>>(`/api/sandbox/files?${query}`);
  if (!listed.ok) return ["not_found", "sandbox_missing"].includes(listed.error.code);
  const { entries, truncated } = listed.data;
  return !truncated && !entries.some((entry) => entry.path === path);
}

const pathOf = ({ url }: UploadedFile): string => url.slice("sandbox:".length);
