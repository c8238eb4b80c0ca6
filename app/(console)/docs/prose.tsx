import { cn } from "../_ui/class-names.ts";

/** A sentence of the document: what stands between backticks is code. */
export function Prose({ text }: { readonly text: string }) {
  return text.split("`").map((piece, index) =>
    index % 2 === 0 ? (
      piece
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the text never changes
      <code key={index} className="font-mono text-[0.9em] break-words text-foreground">
        {piece}
      </code>
    ),
  );
}

/** Reading is quiet, deleting is a warning, and everything else writes. */
const styles: Readonly<Record<string, string>> = {
  GET: "text-muted-foreground",
  DELETE: "text-danger-text",
};

type MethodLabelProps = Readonly<{ method: string; className?: string }>;

export function MethodLabel({ method, className }: MethodLabelProps) {
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
