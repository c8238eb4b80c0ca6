import Link from "next/link";
import type { Artist } from "@/lib/artists/artist.ts";
import { Cover } from "../_ui/cover.tsx";
import { coverSeed } from "./cover-seed.ts";

export function ArtistCard({
  artist,
  organization,
}: {
  readonly artist: Artist;
  /** Null for an artist of the account alone. */
  readonly organization: string | null;
}) {
  return (
    <Link
      href={`/artists/${artist.account_id}`}
      prefetch={false}
      className="group flex h-full flex-col items-center rounded-xl border bg-surface p-5 text-center shadow-xs transition-colors hover:border-input hover:bg-muted"
    >
      <Cover
        seed={coverSeed(artist)}
        image={artist.image}
        round
        className="w-full max-w-32 shadow-sm transition-transform group-hover:scale-[1.03]"
      />
      <span className="mt-4 line-clamp-2 w-full font-semibold break-words">{artist.name}</span>
      <span className="w-full truncate text-sm text-muted-foreground">
        {artist.label ?? "No label"}
      </span>
      {organization !== null && (
        <span className="mt-1 w-full truncate text-xs text-muted-foreground">{organization}</span>
      )}
    </Link>
  );
}
