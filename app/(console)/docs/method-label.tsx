import { cn } from "../_ui/class-names.ts";

/** Reading is quiet, deleting is a warning, and everything else writes. */
const styles: Readonly<Record<string, string>> = {
  GET: "text-muted-foreground",
  DELETE: "text-danger-text",
};

/** The HTTP method of an endpoint, wide enough for the longest one so that paths are in line. */
export function MethodLabel({ method }: { readonly method: string }) {
  return (
    <span
      className={cn(
        "inline-block w-14 shrink-0 font-mono text-xs font-semibold",
        styles[method] ?? "text-accent-text",
      )}
    >
      {method}
    </span>
  );
}
