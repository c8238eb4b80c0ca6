import type { Metadata } from "next";
import { CatalogAlbumPage } from "./catalog-album-page.tsx";

export const metadata: Metadata = { title: "Album" };

export default async function CatalogAlbum({
  params,
}: {
  readonly params: Promise<{ readonly id: string }>;
}) {
  return <CatalogAlbumPage id={(await params).id} />;
}
