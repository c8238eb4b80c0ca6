import { cn } from "./class-names.ts";
import { ForeignText, InvisibleCount } from "./foreign-text.tsx";
import { keyed } from "./keyed.ts";
import { ScrollBox } from "./scroll-box.tsx";

const styles: Readonly<Record<string, string>> = {
  "+": "bg-success-soft text-success-text",
  "-": "bg-danger-soft text-danger-text",
};

/** Changes as a unified diff, without its line numbers. Invisible characters are written out. */
export const DiffView = ({ diff }: { readonly diff: string }) => (
  <ScrollBox label="Changes" isLandmark={false} className="mt-2 max-h-80 border text-xs">
    <InvisibleCount text={diff} />
    <pre className="py-1 font-mono whitespace-pre-wrap wrap-anywhere">
      {keyed(
        diff
          .replace(/^={4,}\n/gm, "")
          .replace(/^(?:@@|\\).*$/gm, "…")
          .split("\n"),
      ).map(({ key, item }) => (
        <span key={key} className={cn("block min-h-[1lh] px-3", styles[item.charAt(0)])}>
          <ForeignText text={item} />
        </span>
      ))}
    </pre>
  </ScrollBox>
);
