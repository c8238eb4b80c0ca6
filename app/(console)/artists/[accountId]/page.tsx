import { ArtistPage } from "./artist-page.tsx";

export const metadata = { title: "Artist" };

type ArtistProps = Readonly<{ params: Promise<{ accountId: string }> }>;

export default async function Artist({ params }: ArtistProps) {
  return <ArtistPage id={(await params).accountId} />;
}
