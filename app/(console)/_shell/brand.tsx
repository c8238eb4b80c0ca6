import { AudioLines } from "lucide-react";
import Link from "next/link";

export function Brand() {
  return (
    <Link
      href="/"
      prefetch={false}
      aria-label="Agent Platform home"
      className="flex min-w-0 items-center gap-2 rounded-md font-semibold"
    >
      <span className="grid size-6 shrink-0 place-items-center rounded-md bg-accent text-accent-foreground">
        <AudioLines aria-hidden className="size-4" />
      </span>
      <span className="truncate">Agent Platform</span>
    </Link>
  );
}
