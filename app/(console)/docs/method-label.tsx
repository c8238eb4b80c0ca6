import { cn } from "../_ui/class-names.ts";

/** Reading is quiet, deleting is a warning, and everything else writes. */
const styles: Readonly<Record<string, string>> = {
  GET: "text-muted-foreground",
  DELETE: "text-danger-text",
};

/** The HTTP method of an endpoint. */
export function MethodLabel({
  method,
  className,
}: {
  readonly method: string;
  readonly className?: string;
}) {
  return (
    <span
      className={cn(
        "shrink-0 font-mono text-xs font-semibold",
        styles[method] ?? "text-accent-text",
        className,
      )}
    >
      {method}
    </span>
  );
}
