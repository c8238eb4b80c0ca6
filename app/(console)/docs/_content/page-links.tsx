import { ArrowLeft, ArrowRight } from "lucide-react";
import Link from "next/link";

export interface PageLink {
  readonly href: string;
  readonly title: string;
}

/** Leads to the pages before and after this one. */
export function PageLinks({
  before,
  after,
}: {
  readonly before: PageLink | undefined;
  readonly after: PageLink | undefined;
}) {
  const style =
    "flex min-w-0 items-center gap-3 rounded-lg border px-4 py-3 hover:bg-muted [&_svg]:size-4 [&_svg]:shrink-0";
  return (
    <nav aria-label="Neighboring pages" className="mt-12 grid gap-3 sm:grid-cols-2">
      {before === undefined ? (
        <span />
      ) : (
        <Link href={before.href} prefetch={false} className={style}>
          <ArrowLeft aria-hidden />
          <span className="min-w-0">
            <span className="block text-xs text-muted-foreground">Previous</span>
            <span className="block truncate font-medium">{before.title}</span>
          </span>
        </Link>
      )}
      {after !== undefined && (
        <Link href={after.href} prefetch={false} className={`${style} justify-end text-right`}>
          <span className="min-w-0">
            <span className="block text-xs text-muted-foreground">Next</span>
            <span className="block truncate font-medium">{after.title}</span>
          </span>
          <ArrowRight aria-hidden />
        </Link>
      )}
    </nav>
  );
}
