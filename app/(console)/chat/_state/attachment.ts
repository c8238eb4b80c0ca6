/** A file of a message that is being written, and the message it is for. */
import type { FileUIPart } from "ai";

export interface Attachment {
  readonly id: string;
  readonly name: string;
  /** In bytes; null for a file of a message that came back. */
  readonly size: number | null;
  readonly mediaType: string;
  readonly previewUrl: string | null;
  readonly state:
    | { readonly kind: "uploading"; readonly sentBytes: number }
    | { readonly kind: "ready" }
    | { readonly kind: "failed"; readonly text: string; readonly canRetry: boolean };
}

export type AttachmentsView = Readonly<{ files: readonly Attachment[]; notice: string | null }>;

export type ChatAddress = Readonly<{ sessionId: string; chatId: string }>;

export interface Destination {
  readonly draftKey: string;
  /** Resolves with the chat whose sandbox gets the files, or with the sentence to show. */
  findChat(): Promise<ChatAddress | { readonly error: string }>;
  /** Continues with a chat that was created for this draft before the page was loaded. */
  resume?(chat: ChatAddress): void;
}

export type UploadedFile = FileUIPart & { readonly size?: number | null };

/** Types that a browser shows in an `img` and that cannot contain a script. */
export const isPreviewable = (type: string): boolean =>
  /^image\/(png|jpeg|gif|webp|avif)$/.test(type);

export const sandboxFilePath = (sessionId: string, path: string): string =>
  `/api/sandbox/files/content?${new URLSearchParams({ sessionId, path })}`;

/** Returns a path of the sandbox without its home, from which relative paths start. */
export const withoutHome = (path: string): string => path.replace(/^(?:\/home\/agent\/|\.\/)/, "");
