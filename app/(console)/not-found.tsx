import { Disc3 } from "lucide-react";
import type { Metadata } from "next";
import { ButtonLink } from "./_ui/button.tsx";

export const metadata: Metadata = { title: "Not found" };

export default function NotFound() {
  return (
    <div className="mx-auto flex max-w-md flex-col items-center px-4 py-24 text-center">
      <Disc3 aria-hidden className="size-12 text-muted-foreground" strokeWidth={1.25} />
      <p className="mt-4 text-sm font-medium text-muted-foreground">404</p>
      <h1 className="mt-1 text-xl font-semibold tracking-tight">Page not found</h1>
      <p className="mt-1 text-balance text-muted-foreground">
        The address may be wrong, or the page may have been removed.
      </p>
      <ButtonLink href="/" variant="outline" className="mt-5">
        Go to home
      </ButtonLink>
    </div>
  );
}
