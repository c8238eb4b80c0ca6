import { CatalogArtistPage } from "./catalog-artist-page.tsx";

export const metadata = { title: "Artist in the catalog" };

type CatalogArtistProps = Readonly<{ params: Promise<{ id: string }> }>;

export default async function CatalogArtist({ params }: CatalogArtistProps) {
  return <CatalogArtistPage id={(await params).id} />;
}
