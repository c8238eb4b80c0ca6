import { CatalogAlbumPage } from "./catalog-album-page.tsx";

export const metadata = { title: "Album" };

export default async function CatalogAlbum({
  params,
}: {
  readonly params: Promise<{ id: string }>;
}) {
  return <CatalogAlbumPage id={(await params).id} />;
}
