"use client";
import { useParams, useSearchParams } from "next/navigation";
import { useQuery } from "../../../_hooks/use-query.ts";
import { formatDate, formatDuration } from "../../../_ui/format.ts";
import { Disc3 } from "../../../_ui/icons.tsx";
import { TextLink } from "../../../_ui/link.tsx";
import { BackLink, Page } from "../../../_ui/page-header.tsx";
import { EmptyState, Loaded, Loading } from "../../../_ui/states.tsx";
import {
  artistPage,
  type CatalogAlbum,
  CatalogCover,
  type CatalogSearch,
  ofAlbum,
  searchPath,
  TrackList,
} from "../../lists.tsx";

export function CatalogAlbumPage() {
  const { id } = useParams<{ id: string }>();
  const params = useSearchParams();
  const name = params.get("name") ?? "";
  const q = ofAlbum(name, params.get("artist") ?? "");
  const query = useQuery<CatalogSearch>(name === "" ? null : searchPath(q, ["album", "track"], 50));
  const missing = (
    <EmptyState
      icon={Disc3}
      isWholePage
      title="Album not found"
      text="The catalog has no album at this address. Search for it by its name."
    />
  );
  const show = ({ albums, tracks: found }: CatalogSearch) => {
    const tracks = (found?.items ?? [])
      .filter(({ album }) => album.id === id)
      .toSorted((one, other) => place(one) - place(other));
    const album = albums?.items.find((one) => one.id === id) ?? tracks[0]?.album;
    if (album === undefined) return missing;
    return (
      <>
        <Heading album={album} totalMs={tracks.reduce((sum, one) => sum + one.duration_ms, 0)} />
        <TrackList label={`Tracks of ${album.name}`} tracks={tracks} album={album} />
      </>
    );
  };
  const loading = <Loading label="Loading the album…" className="h-40 rounded-xl" />;
  return (
    <Page>
      <BackLink href="/catalog">Catalog</BackLink>
      {name === "" ? missing : <Loaded {...{ query, loading }}>{show}</Loaded>}
    </Page>
  );
}

const place = (track: { readonly disc_number: number; readonly track_number: number }): number =>
  track.disc_number * 1_000 + track.track_number;

const Heading = ({
  album,
  totalMs,
}: {
  readonly album: CatalogAlbum;
  readonly totalMs: number;
}) => (
  <header className="mb-6 flex flex-wrap items-end gap-5">
    <CatalogCover of={album} className="size-36 rounded-xl shadow-md" />
    <div className="min-w-0 flex-1">
      <p className="text-sm text-muted-foreground capitalize">{album.album_type}</p>
      <h1 className="text-2xl font-semibold tracking-tight wrap-anywhere">{album.name}</h1>
      <p className="mt-1">
        {album.artists.map((credit, index) => (
          <span key={credit.id}>
            {index > 0 && ", "}
            <TextLink href={artistPage(credit)}>{credit.name}</TextLink>
          </span>
        ))}
      </p>
      <p className="mt-1 text-sm text-muted-foreground">
        {releasedOn(album)} · {album.total_tracks} {album.total_tracks === 1 ? "track" : "tracks"}
        {totalMs > 0 && ` · ${formatDuration(totalMs)}`}
      </p>
    </div>
  </header>
);

/** A release date may be a year or a month alone. */
const releasedOn = ({ release_date, release_date_precision }: CatalogAlbum): string =>
  release_date_precision === "day" ? formatDate(`${release_date}T12:00:00`) : release_date;
