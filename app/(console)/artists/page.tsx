export { ArtistsPage as default } from "./artists-page.tsx";

export const metadata = { title: "Artists" };
