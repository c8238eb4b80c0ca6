import { ArrowLeft, ArrowRight } from "lucide-react";
import { cn } from "../../_ui/class-names.ts";
import { Link } from "../../_ui/link.tsx";

export interface PageLink {
  readonly href: string;
  readonly title: string;
}

type PageLinksProps = Readonly<{ before: PageLink | undefined; after: PageLink | undefined }>;

/** Leads to the pages before and after this one. */
export function PageLinks({ before, after }: PageLinksProps) {
  return (
    <nav aria-label="Neighboring pages" className="mt-12 grid gap-3 sm:grid-cols-2">
      {before === undefined ? <span /> : <Neighbor link={before} label="Previous" />}
      {after !== undefined && <Neighbor link={after} label="Next" />}
    </nav>
  );
}

function Neighbor({ link, label }: { readonly link: PageLink; readonly label: string }) {
  const isNext = label === "Next";
  const Arrow = isNext ? ArrowRight : ArrowLeft;
  return (
    <Link
      href={link.href}
      className={cn(
        "flex min-w-0 items-center gap-3 rounded-lg border px-4 py-3 hover:bg-muted",
        isNext && "flex-row-reverse text-right",
      )}
    >
      <Arrow aria-hidden className="size-4 shrink-0" />
      <span className="min-w-0">
        <span className="block text-xs text-muted-foreground">{label}</span>
        <span className="block truncate font-medium">{link.title}</span>
      </span>
    </Link>
  );
}
