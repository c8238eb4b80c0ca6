/**
 * The files of an unsent message. Each is uploaded to the sandbox as soon as it is added, one at a
 * time, and the message holds only their paths.
 */
import type { FileUIPart } from "ai";
import { api } from "../../_api/request.ts";
import { loadModule } from "../../_load/load-module.ts";
import {
  type Attachment,
  type AttachmentsView,
  type Destination,
  isPreviewable,
  sandboxFilePath,
  type UploadedFile,
} from "./attachment.ts";
import { keptFilesKey } from "./drafts.ts";
import { MAX_FILE_BYTES, uploadFile } from "./upload-file.ts";

const MAX_FILES = 20;
const HOME_URL = "sandbox:/home/agent/";

/** A file of the list, with its place in the sandbox and the content for it. */
interface Entry extends Attachment {
  readonly url: string;
  /** Null for a file that was uploaded before. */
  readonly source: { readonly file: File; readonly path: string } | null;
  readonly controller: AbortController;
}

type View = Readonly<{ files: readonly Entry[]; notice: string | null }>;

const NOTHING: View = { files: [], notice: null };

export class Attachments {
  readonly destination: Destination;
  readonly #listeners = new Set<() => void>();
  #view = NOTHING;
  #uploads = Promise.resolve();
  #isKept = false;

  constructor(destination: Destination) {
    this.destination = destination;
  }

  getView = (): AttachmentsView => this.#view;

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Shows the files that were uploaded before a reload. The page must be hydrated. */
  resume(): void {
    if (localStorage.getItem(keptFilesKey())?.includes(this.destination.draftKey)) this.#keep();
  }

  add = (files: readonly File[]): void => {
    const room = MAX_FILES - this.#view.files.length;
    const notice =
      files.length > room
        ? `A message can have at most ${MAX_FILES} files. The rest was left out.`
        : null;
    const added = files.slice(0, room).map((file): Entry => {
      const id = crypto.randomUUID();
      const path = `uploads/${id.slice(0, 8)}/${safeName(file.name)}`;
      return {
        ...{ id, url: HOME_URL + path, source: { file, path }, controller: new AbortController() },
        name: file.name,
        size: file.size,
        mediaType: file.type || "application/octet-stream",
        previewUrl: isPreviewable(file.type) ? URL.createObjectURL(file) : null,
        state: file.size > MAX_FILE_BYTES ? TOO_LARGE : { kind: "uploading", sentBytes: 0 },
      };
    });
    this.#show({ files: [...this.#view.files, ...added], notice });
    for (const { id, state } of added) if (state.kind === "uploading") this.#enqueue(id);
  };

  restore(parts: readonly UploadedFile[]): void {
    const restored = parts.map(
      ({ url, filename, mediaType, size = null }): Entry => ({
        ...{ id: crypto.randomUUID(), name: filename ?? url.split("/").at(-1) ?? "file" },
        ...{ url, size, mediaType, previewUrl: null, state: { kind: "ready" } },
        ...{ source: null, controller: new AbortController() },
      }),
    );
    this.#show({ files: [...restored, ...this.#view.files].slice(0, MAX_FILES), notice: null });
  }

  /** Takes out the files of these URLs, which are not in the sandbox any more. */
  drop(urls: readonly string[], notice: string): void {
    const files = this.#view.files.filter(({ url }) => !urls.includes(url));
    this.#show({ files, notice });
  }

  showPreview(url: string, previewUrl: string): void {
    const files = this.#view.files.map((file) =>
      file.url === url ? { ...file, previewUrl } : file,
    );
    this.#show({ ...this.#view, files });
  }

  retry(id: string): void {
    this.#change(id, { kind: "uploading", sentBytes: 0 });
    this.#enqueue(id);
  }

  remove(id: string): void {
    const removed = this.#view.files.find((file) => file.id === id);
    if (removed) forget(removed);
    this.#show({ files: this.#view.files.filter((file) => file !== removed), notice: null });
    if (removed?.source && removed.state.kind === "ready")
      void this.#deleteFile(removed.source.path);
  }

  uploaded(): UploadedFile[] {
    const ready = this.#view.files.filter(({ state }) => state.kind === "ready");
    return ready.map((file) => ({ ...toPart(file), size: file.size }));
  }

  /** Empties the list, and returns its files as parts of the message that is sent. */
  take(): FileUIPart[] {
    for (const { url, previewUrl } of this.#view.files) {
      if (previewUrl !== null) keepPreview(url, previewUrl);
    }
    const parts = this.#view.files.map(toPart);
    this.#show(NOTHING);
    return parts;
  }

  /** Ends with the page. Uploaded files stay with the draft: returns whether there is any. */
  leave(): boolean {
    const hasUploaded = this.uploaded().length > 0;
    this.#listeners.clear();
    this.#view.files.forEach(forget);
    this.#view = NOTHING;
    return hasUploaded;
  }

  #enqueue(id: string): void {
    this.#uploads = this.#uploads.then(() => this.#upload(id));
  }

  async #upload(id: string): Promise<void> {
    const { source, controller } = this.#view.files.find((file) => file.id === id) ?? {};
    if (!source || !controller || controller.signal.aborted) return;
    const found = await this.destination.findChat();
    const failure =
      "error" in found
        ? found.error
        : await uploadFile({
            ...{ sessionId: found.sessionId, file: source.file, signal: controller.signal },
            address: sandboxFilePath(found.sessionId, source.path),
            onProgress: (sentBytes) => this.#change(id, { kind: "uploading", sentBytes }),
          });
    if (controller.signal.aborted) return;
    this.#change(
      id,
      failure === null ? { kind: "ready" } : { kind: "failed", text: failure, canRetry: true },
    );
  }

  async #deleteFile(path: string): Promise<void> {
    const found = await this.destination.findChat();
    if ("error" in found) return;
    const query = new URLSearchParams({ sessionId: found.sessionId, path });
    await api(`/api/sandbox/files?${query}`, { method: "DELETE" });
  }

  #keep(): void {
    if (this.#isKept) return;
    this.#isKept = true;
    loadModule(() => import("./kept-files.ts")).then(
      ({ keepFiles }) => keepFiles(this),
      () => {
        // The next change tries again.
        this.#isKept = false;
      },
    );
  }

  #change(id: string, state: Attachment["state"]): void {
    const files = this.#view.files.map((file) => (file.id === id ? { ...file, state } : file));
    this.#show({ ...this.#view, files });
  }

  #show(view: View): void {
    this.#view = view;
    if (view.files.length > 0) this.#keep();
    for (const listener of this.#listeners) listener();
  }
}

const toPart = ({ url, name, mediaType }: Entry): FileUIPart => ({
  ...{ type: "file", url, mediaType, filename: name },
});

/** Ends the upload of a file that is not sent, and its preview. */
function forget({ controller, previewUrl }: Entry): void {
  controller.abort();
  if (previewUrl) URL.revokeObjectURL(previewUrl);
}

const TOO_LARGE: Attachment["state"] = {
  kind: "failed",
  text: "Files can have at most 100 MB.",
  canRetry: false,
};

/** Returns the name without characters that are special in a shell or a path. */
function safeName(name: string): string {
  const plain = name.normalize("NFC").replace(/[^\p{L}\p{N}._ -]/gu, "_");
  const trimmed = plain.replace(/^[.\s-]+|[.\s]+$/g, "");
  const dot = trimmed.lastIndexOf(".");
  const end = dot > 0 ? trimmed.slice(dot).slice(0, 20) : "";
  const stem = (dot > 0 ? trimmed.slice(0, dot) : trimmed).slice(0, 80);
  return `${stem || "file"}${end}`;
}

const MAX_PREVIEWS = 50;
const previews = new Map<string, string>();

/** Keeps the image of a sent file, so its message shows it without loading it again. */
function keepPreview(url: string, previewUrl: string): void {
  previews.set(url, previewUrl);
  const [oldest] = previews.keys();
  if (previews.size <= MAX_PREVIEWS || oldest === undefined) return;
  URL.revokeObjectURL(previews.get(oldest) ?? "");
  previews.delete(oldest);
}

/** Returns an object URL of an image that was sent from this page; null for any other file. */
export const previewOf = (url: string): string | null => previews.get(url) ?? null;

const ofChats = new Map<string, Attachments>();

/** The attachments of a chat's next message, which stay while another chat is shown. */
export function attachmentsOf(sessionId: string, chatId: string): Attachments {
  const known = ofChats.get(chatId);
  if (known) return known;
  const findChat = async () => ({ sessionId, chatId });
  const made = new Attachments({ draftKey: chatId, findChat });
  // A server renders the pages of many people: it keeps none of their chats.
  if (typeof window !== "undefined") ofChats.set(chatId, made);
  return made;
}
