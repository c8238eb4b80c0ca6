import type { Metadata } from "next";
import { ArtistsPage } from "./artists-page.tsx";

export const metadata: Metadata = { title: "Artists" };

export default function Artists() {
  return <ArtistsPage />;
}
