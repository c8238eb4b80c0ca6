"use client";
import { MessageSquarePlus } from "lucide-react";
import { useRouter } from "next/navigation";
import type { Artist } from "@/lib/artists/artist.ts";
import { chooseArtist } from "../../_session/scope.ts";
import { Button } from "../../_ui/button.tsx";

/** Chooses the artist, so that the new chat and what follows belongs to it. */
export function NewChatButton({ artist }: { readonly artist: Artist }) {
  const router = useRouter();
  return (
    <Button
      icon={MessageSquarePlus}
      aria-label={`New chat about ${artist.name}`}
      onClick={() => {
        chooseArtist(artist);
        router.push("/chat");
      }}
    >
      New chat
    </Button>
  );
}
