"use client";
import { MessageSquarePlus } from "lucide-react";
import { useRouter } from "next/navigation";
import { chooseArtist } from "@/app/(console)/_session/scope.ts";
import type { Artist } from "@/lib/artists/artist.ts";
import { Button } from "../../_ui/button.tsx";
import { coverSeed } from "../cover-seed.ts";

/** Chooses the artist, so that the new chat and what follows belongs to it. */
export function NewChatButton({ artist }: { readonly artist: Artist }) {
  const router = useRouter();
  return (
    <Button
      aria-label={`New chat about ${artist.name}`}
      onClick={() => {
        chooseArtist({ id: artist.account_id, name: artist.name, seed: coverSeed(artist) });
        router.push("/chat");
      }}
    >
      <MessageSquarePlus aria-hidden />
      New chat
    </Button>
  );
}
