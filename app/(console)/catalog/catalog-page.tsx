"use client";
import { useSearchParams } from "next/navigation";
import {
  type ReactNode,
  startTransition,
  useCallback,
  useEffect,
  useOptimistic,
  useRef,
  useState,
} from "react";
import { withQuery } from "../_api/with-query.ts";
import { useQuery } from "../_hooks/use-query.ts";
import { SmallButton } from "../_ui/button.tsx";
import { SearchInput, Segmented } from "../_ui/form.tsx";
import { SearchX } from "../_ui/icons.tsx";
import { Link } from "../_ui/link.tsx";
import { Page } from "../_ui/page-header.tsx";
import { EmptyState, ErrorState, Loaded, LoadMore } from "../_ui/states.tsx";
import {
  AlbumGrid,
  AlbumSkeletons,
  ArtistLine,
  artistPage,
  type CatalogArtist,
  type CatalogSearch,
  searchPath,
  TrackList,
  useCatalogList,
} from "./lists.tsx";

const TYPES = [
  { value: "all", label: "All" },
  { value: "artist", label: "Artists" },
  { value: "album", label: "Albums" },
  { value: "track", label: "Tracks" },
] as const;
type Type = (typeof TYPES)[number]["value"];

const TYPING_PAUSE_MS = 250;
const MAX_QUERY_LENGTH = 250;

/** The catalog search. Its text and type are in the address, so a result can be shared. */
export function CatalogPage() {
  const params = useSearchParams();
  const q = params.get("q")?.trim() ?? "";
  // The address changes later than the click.
  const [type, showType] = useOptimistic<Type>(
    TYPES.find(({ value }) => value === params.get("type"))?.value ?? "all",
  );
  const [text, setText] = useState(q);
  const shown = useRef(q);
  const show = useCallback((next: string, nextType: Type) => {
    shown.current = next.trim();
    setText(next);
    history.replaceState(null, "", addressOf(shown.current, nextType));
  }, []);
  // A link changed the address, such as one in the navigation.
  useEffect(() => {
    if (q === shown.current) return;
    shown.current = q;
    setText(q);
  }, [q]);
  useEffect(() => {
    if (text.trim() === shown.current) return;
    const timer = setTimeout(() => show(text, type), TYPING_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, type, show]);
  return (
    <Page
      title="Catalog"
      description="Artists, albums and tracks, with the ISRCs and release dates that agents work with."
    >
      <div className="mb-6 flex flex-wrap items-center gap-3">
        <SearchInput
          label="Search the catalog"
          placeholder="Artist, album, track or ISRC"
          className="sm:w-96"
          maxLength={MAX_QUERY_LENGTH}
          value={text}
          onChange={setText}
        />
        <Segmented
          label="Type"
          hideLabel
          options={TYPES}
          value={type}
          onChange={(next) =>
            startTransition(() => {
              showType(next);
              show(text, next);
            })
          }
        />
      </div>
      {q === "" && <Releases onSearch={(next) => show(next, type)} />}
      {q !== "" && type === "all" && <Overview q={q} onShowAll={(next) => show(q, next)} />}
      {q !== "" && type !== "all" && <OneType key={`${type} ${q}`} q={q} type={type} />}
    </Page>
  );
}

const addressOf = (q: string, type: Type): string =>
  withQuery("/catalog", { q, type: type === "all" ? "" : type });

function Overview({ q, onShowAll }: Readonly<{ q: string; onShowAll: (type: Type) => void }>) {
  const query = useQuery<CatalogSearch>(searchPath(q, ["artist", "album", "track"], 10));
  return (
    <Loaded query={query} loading={<AlbumSkeletons />}>
      {({ artists, albums, tracks, source }) =>
        artists?.total || albums?.total || tracks?.total ? (
          <div className="space-y-8">
            {source !== undefined && (
              <p className="text-sm text-muted-foreground">From the {source}.</p>
            )}
            <Section title="Artists" list={artists} shown={6} onAll={() => onShowAll("artist")}>
              {(items) => <ArtistGrid artists={items} />}
            </Section>
            <Section title="Albums" list={albums} shown={10} onAll={() => onShowAll("album")}>
              {(items) => <AlbumGrid albums={items} withArtists />}
            </Section>
            <Section title="Tracks" list={tracks} shown={10} onAll={() => onShowAll("track")}>
              {(items) => <TrackList label="Tracks" tracks={items} />}
            </Section>
          </div>
        ) : (
          <NothingFound q={q} />
        )
      }
    </Loaded>
  );
}

interface SectionProps<T> {
  readonly title: string;
  readonly list: { readonly items: readonly T[]; readonly total: number } | undefined;
  readonly shown: number;
  readonly onAll: () => void;
  readonly children: (items: readonly T[]) => ReactNode;
}

function Section<T>({ title, list, shown, onAll, children }: SectionProps<T>) {
  if (!list?.total) return null;
  const { items, total } = list;
  return (
    <section aria-label={title}>
      <div className="mb-3 flex h-7 items-center justify-between gap-4">
        <h2 className="font-semibold">{title}</h2>
        {total > shown && (
          <SmallButton
            variant="ghost"
            aria-label={`Show all ${total} ${title.toLowerCase()}`}
            onClick={onAll}
          >
            Show all {total}
          </SmallButton>
        )}
      </div>
      {children(items.slice(0, shown))}
    </section>
  );
}

const PAGE_SIZE = 30;

function OneType({ q, type }: { readonly q: string; readonly type: Exclude<Type, "all"> }) {
  const path = searchPath(q, [type], PAGE_SIZE);
  const list = useCatalogList<CatalogSearch, unknown>(path, (body) => body[`${type}s`]);
  const found = list.bodies;
  if (list.items === undefined && list.error === null) return <AlbumSkeletons />;
  return (
    <>
      <p role="status" className="mb-3 text-sm text-muted-foreground">
        {list.total} {list.total === 1 ? "result" : "results"}
      </p>
      {list.items?.length === 0 && <NothingFound q={q} />}
      {type === "artist" && (
        <ArtistGrid artists={found.flatMap(({ artists }) => artists?.items ?? [])} />
      )}
      {type === "album" && (
        <AlbumGrid albums={found.flatMap(({ albums }) => albums?.items ?? [])} withArtists />
      )}
      {type === "track" && list.total > 0 && (
        <TrackList label="Tracks" tracks={found.flatMap(({ tracks }) => tracks?.items ?? [])} />
      )}
      {list.error !== null && <ErrorState error={list.error} onRetry={list.loadMore} />}
      {list.error === null && <LoadMore pages={list} />}
    </>
  );
}

const NothingFound = ({ q }: { readonly q: string }) => (
  <EmptyState
    icon={SearchX}
    title="Nothing found"
    text={
      <>
        The catalog has nothing for “{q}”. Check the spelling, or search by a filter such as{" "}
        <code className="font-mono text-xs">genre:soul</code> or{" "}
        <code className="font-mono text-xs">year:2024</code>.
      </>
    }
  />
);

const ArtistGrid = ({ artists }: { readonly artists: readonly CatalogArtist[] }) => (
  <ul className="grid gap-2 sm:grid-cols-2 lg:grid-cols-3">
    {artists.map((artist) => (
      <li key={artist.id} className="min-w-0">
        <Link
          href={artistPage(artist)}
          className="group flex items-center gap-3 rounded-xl border bg-surface p-3 hover:border-input hover:bg-muted"
        >
          <ArtistLine artist={artist} />
        </Link>
      </li>
    ))}
  </ul>
);

const GENRES = ["dream pop", "soul", "jazz", "techno", "folk", "cumbia", "punk"] as const;
const YEARS = 5;

/** The catalog before a search: recent releases, and genres to start from. */
function Releases({ onSearch }: { readonly onSearch: (text: string) => void }) {
  const year = new Date().getFullYear();
  const query = useQuery<CatalogSearch>(searchPath(`year:${year - YEARS}-${year}`, ["album"], 20));
  return (
    <>
      <ul aria-label="Genres" className="mb-6 flex flex-wrap gap-1.5">
        {GENRES.map((genre) => (
          <li key={genre}>
            <SmallButton onClick={() => onSearch(`genre:"${genre}"`)}>{genre}</SmallButton>
          </li>
        ))}
      </ul>
      <h2 className="mb-3 font-semibold">Recent releases</h2>
      <Loaded query={query} loading={<AlbumSkeletons />}>
        {({ albums }) =>
          albums?.items.length ? (
            // An album that is listed by year alone comes last in its year.
            <AlbumGrid
              albums={albums.items.toSorted((one, other) =>
                other.release_date.localeCompare(one.release_date),
              )}
              withArtists
            />
          ) : (
            <p className="text-muted-foreground">
              No releases of the last {YEARS} years. Search for an artist, an album or a track.
            </p>
          )
        }
      </Loaded>
    </>
  );
}
