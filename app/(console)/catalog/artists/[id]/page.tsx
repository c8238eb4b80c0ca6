import type { Metadata } from "next";
import { CatalogArtistPage } from "./catalog-artist-page.tsx";

export const metadata: Metadata = { title: "Artist in the catalog" };

export default async function CatalogArtist({
  params,
}: {
  readonly params: Promise<{ readonly id: string }>;
}) {
  return <CatalogArtistPage id={(await params).id} />;
}
