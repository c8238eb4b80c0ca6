import { ArtistPage } from "./artist-page.tsx";

export const metadata = { title: "Artist" };

export default async function Artist({
  params,
}: {
  readonly params: Promise<{ accountId: string }>;
}) {
  return <ArtistPage id={(await params).accountId} />;
}
