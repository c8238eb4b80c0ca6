import { CatalogAlbumPage } from "./catalog-album-page.tsx";

export const metadata = { title: "Album" };

type CatalogAlbumProps = Readonly<{ params: Promise<{ id: string }> }>;

export default async function CatalogAlbum({ params }: CatalogAlbumProps) {
  return <CatalogAlbumPage id={(await params).id} />;
}
