import type { Metadata } from "next";
import { ArtistPage } from "./artist-page.tsx";

export const metadata: Metadata = { title: "Artist" };

export default async function Artist({
  params,
}: {
  readonly params: Promise<{ readonly accountId: string }>;
}) {
  return <ArtistPage id={(await params).accountId} />;
}
