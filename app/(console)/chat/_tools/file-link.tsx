"use client";
import { createContext, useContext } from "react";

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
