"use client";
import { createContext, type ReactNode, useContext } from "react";
import { download } from "../../_ui/save-file.ts";
import { sandboxFilePath } from "../_state/attachment.ts";

/** The session whose sandbox has the files of the messages; null where they cannot be read. */
export const FilesSessionContext = createContext<string | null>(null);

/** Opens a file of the sandbox next to the chat. */
export const OpenFileContext = createContext<((path: string) => void) | null>(null);

export function FileLink({ path }: { readonly path: string }) {
  const open = useContext(OpenFileContext);
  if (open === null) return <code className="min-w-0 truncate font-mono">{path}</code>;
  return (
    <button
      type="button"
      title={`Open ${path}`}
      onClick={() => open(path)}
      className="min-w-0 truncate rounded font-mono hover:underline"
    >
      {path}
    </button>
  );
}

interface SandboxLinkProps {
  readonly path: string;
  readonly children: ReactNode;
}

/** A link of an answer to a file of the sandbox: opens it next to the chat, or else downloads it. */
export function SandboxLink({ path, children }: SandboxLinkProps) {
  const open = useContext(OpenFileContext);
  const sessionId = useContext(FilesSessionContext);
  if (sessionId === null) return children;
  return (
    <button
      type="button"
      title={`${open === null ? "Download" : "Open"} ${path}`}
      onClick={() => {
        if (open !== null) open(path);
        else void download(sandboxFilePath(sessionId, path), path.split("/").at(-1) ?? path);
      }}
      className="text-left text-accent-text underline underline-offset-2 hover:no-underline"
    >
      {children}
    </button>
  );
}
