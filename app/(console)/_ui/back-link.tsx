import { ArrowLeft } from "lucide-react";
import Link from "next/link";

/** The way from the page of one thing back to the list of all, above everything else. */
export function BackLink({ href, children }: { readonly href: string; readonly children: string }) {
  return (
    <Link
      href={href}
      prefetch={false}
      className="-ml-1.5 mb-3 inline-flex h-7 items-center gap-1.5 rounded-md px-1.5 text-sm text-muted-foreground hover:bg-hover hover:text-foreground"
    >
      <ArrowLeft aria-hidden className="size-4" />
      {children}
    </Link>
  );
}
