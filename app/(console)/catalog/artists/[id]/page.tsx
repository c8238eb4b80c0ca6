import { CatalogArtistPage } from "./catalog-artist-page.tsx";

export const metadata = { title: "Artist in the catalog" };

export default async function CatalogArtist({
  params,
}: {
  readonly params: Promise<{ id: string }>;
}) {
  return <CatalogArtistPage id={(await params).id} />;
}
