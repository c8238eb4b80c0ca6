export { ArtistPage as default } from "./artist-page.tsx";

export const metadata = { title: "Artist" };
