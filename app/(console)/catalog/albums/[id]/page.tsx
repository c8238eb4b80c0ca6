export { CatalogAlbumPage as default } from "./catalog-album-page.tsx";

export const metadata = { title: "Album" };
