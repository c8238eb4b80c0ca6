import type { Artist } from "@/lib/artists/artist.ts";
import { coverSeed } from "../_session/scope.ts";
import { Cover } from "../_ui/cover.tsx";
import { Link } from "../_ui/link.tsx";

type Pictured = Pick<Artist, "catalog_artist_id" | "name" | "image">;

export const ArtistCover = (props: { readonly artist: Pictured; readonly className: string }) => (
  <Cover
    seed={coverSeed(props.artist)}
    image={props.artist.image}
    round
    className={props.className}
  />
);

/** An artist in a line of text: the picture and the name, which leads to the artist's page. */
export const ArtistTag = ({ artist }: { readonly artist: Artist }) => (
  <Link
    href={`/artists/${artist.account_id}`}
    className="inline-flex min-h-6 max-w-full min-w-0 items-center gap-1.5 align-bottom hover:text-foreground hover:underline"
  >
    <ArtistCover artist={artist} className="size-4" />
    <span className="truncate">{artist.name}</span>
  </Link>
);
