import Link from "next/link";
import type { Artist } from "@/lib/artists/artist.ts";
import { Cover } from "../_ui/cover.tsx";
import { coverSeed } from "./cover-seed.ts";

/** An artist in a line of text: the picture and the name, which leads to the artist's page. */
export function ArtistTag({ artist }: { readonly artist: Artist }) {
  return (
    <Link
      href={`/artists/${artist.account_id}`}
      prefetch={false}
      className="inline-flex min-h-6 max-w-full min-w-0 items-center gap-1.5 align-bottom hover:text-foreground hover:underline"
    >
      <Cover seed={coverSeed(artist)} image={artist.image} round className="size-4" />
      <span className="truncate">{artist.name}</span>
    </Link>
  );
}
