import { visibleName } from "@platform/kit/visible-name";
import { createContext, type ReactNode, useContext } from "react";
import { download } from "../../_ui/save-file.ts";
import { sandboxFilePath } from "../_state/attachment.ts";

interface SandboxFiles {
  readonly sessionId: string;
  /** Opens a file next to the chat; null on pages without a viewer. */
  readonly open: ((path: string) => void) | null;
}

/** The files of the sandbox that messages name; null where they cannot be read. */
export const SandboxFilesContext = createContext<SandboxFiles | null>(null);

export function FileLink({ path }: { readonly path: string }) {
  const open = useContext(SandboxFilesContext)?.open;
  const name = visibleName(path);
  if (!open) return <code className="min-w-0 truncate font-mono">{name}</code>;
  return (
    <button
      type="button"
      title={`Open ${name}`}
      onClick={() => open(path)}
      className="min-w-0 truncate rounded font-mono hover:underline"
    >
      {name}
    </button>
  );
}

/** A link of an answer to a file of the sandbox: opens it next to the chat, or else downloads it. */
export function SandboxLink({ path, children }: Readonly<{ path: string; children: ReactNode }>) {
  const files = useContext(SandboxFilesContext);
  if (files === null) return children;
  const open = files.open ?? ((file) => saveSandboxFile(files.sessionId, file));
  return (
    <button
      type="button"
      title={`${files.open === null ? "Download" : "Open"} ${visibleName(path)}`}
      onClick={() => open(path)}
      className="text-left text-accent-text underline underline-offset-2 hover:no-underline"
    >
      {children}
    </button>
  );
}

export const saveSandboxFile = (sessionId: string, path: string): void =>
  void download(sandboxFilePath(sessionId, path), path.split("/").at(-1));
