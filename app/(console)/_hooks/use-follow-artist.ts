import { useEffect, useEffectEvent, useRef } from "react";
import { useScope } from "../_session/scope.ts";

/**
 * Calls `onChoose` with the id of the artist that the switcher has, and again when another one is
 * chosen there; `""` stands for all. A list that starts with its own artist keeps it until then.
 */
export function useFollowArtist(current: string, onChoose: (artistId: string) => void): void {
  const chosen = useScope().artist?.id ?? "";
  const followed = useRef(current === "" ? "" : chosen);
  const choose = useEffectEvent(onChoose);
  useEffect(() => {
    if (chosen === followed.current) return;
    followed.current = chosen;
    choose(chosen);
  }, [chosen]);
}
