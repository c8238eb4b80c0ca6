export { CatalogArtistPage as default } from "./catalog-artist-page.tsx";

export const metadata = { title: "Artist in the catalog" };
