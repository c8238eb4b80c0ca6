import type { UIMessage } from "ai";
import { Download } from "lucide-react";
import { useContext } from "react";
import { IconButton } from "../../_ui/button.tsx";
import { formatBytes } from "../../_ui/format.ts";
import { withoutHome } from "../_state/attachment.ts";
import { listAt, numberAt, readToolCall, textAt } from "../_state/tool-call.ts";
import { SandboxFilesContext, saveSandboxFile } from "../_tools/file-link.tsx";
import { FileTypeIcon } from "./file-type-icon.tsx";

/** The files that an answer has written: each opens beside the chat, or is downloaded. */
export function WrittenFiles({ parts }: { readonly parts: UIMessage["parts"] }) {
  const sandbox = useContext(SandboxFilesContext);
  const files = filesIn(parts);
  if (sandbox === null || files.size === 0) return null;
  return (
    <ul aria-label="Files of this answer" className="flex flex-wrap gap-2">
      {[...files].map(([path, size]) => {
        const name = path.split("/").at(-1) ?? path;
        const save = () => saveSandboxFile(sandbox.sessionId, path);
        return (
          <li
            key={path}
            className="flex w-64 max-w-full items-center gap-1 rounded-xl border bg-surface p-1.5"
          >
            <button
              type="button"
              title={`Open ${path}`}
              onClick={() => (sandbox.open ?? save)(path)}
              className="flex min-w-0 flex-1 items-center gap-2.5 rounded-lg text-left hover:opacity-85"
            >
              <FileTypeIcon name={name} mediaType="" />
              <span className="min-w-0 flex-1">
                <span className="block truncate text-sm font-medium">{name}</span>
                <span className="block text-xs text-muted-foreground">{formatBytes(size)}</span>
              </span>
            </button>
            <IconButton icon={Download} label={`Download ${name}`} onClick={save} />
          </li>
        );
      })}
    </ul>
  );
}

/** Returns the sizes of the files by path, as the newest of their writes has it. */
function filesIn(parts: UIMessage["parts"]): Map<string, number> {
  const files = new Map<string, number>();
  for (const part of parts) {
    const call = readToolCall(part);
    if (call?.name === "write" && call.state === "done") {
      const path = withoutHome(textAt(call.output, "filePath") ?? "");
      if (path) files.set(path, numberAt(call.output, "bytes") ?? 0);
    }
    if (part.type !== "data-workspace") continue;
    for (const file of listAt("data" in part && part.data, "stored")) {
      files.set(`workspace/${textAt(file, "path")}`, numberAt(file, "size") ?? 0);
    }
  }
  return files;
}
