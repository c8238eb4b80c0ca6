import { ChevronsUpDown, UsersRound } from "lucide-react";
import { useEffect } from "react";
import { api } from "../_api/request.ts";
import { lazyComponent } from "../_load/lazy-component.tsx";
import { LazyCover } from "../_session/artist-chip.tsx";
import { chooseArtist, currentScope, useScope } from "../_session/scope.ts";
import { MenuButton } from "../_ui/menu-button.tsx";

const ScopeMenu = lazyComponent(() => import("./scope-menu.tsx"), "ScopeMenu");

/** Chooses the artist and the organization that new work is for; lists are limited to the artist. */
export function ScopeSwitcher() {
  const { artist, organization } = useScope();
  useForgottenArtist(artist?.id ?? null);
  return (
    <div className="relative flex items-center">
      <MenuButton
        className="flex h-11 w-full items-center gap-2.5 rounded-lg border bg-surface px-2 text-left shadow-xs hover:bg-hover"
        menu={(state) => state.open && <ScopeMenu {...state} />}
      >
        {artist === null ? (
          <span className="grid size-7 shrink-0 place-items-center rounded-full bg-accent-soft text-accent-text">
            <UsersRound aria-hidden className="size-4" />
          </span>
        ) : (
          <span className="size-7 shrink-0">
            <LazyCover seed={artist.seed} round className="w-full" />
          </span>
        )}
        <span className="min-w-0 flex-1 leading-tight">
          <span className="sr-only">Working for: </span>
          <span className="block truncate font-medium">{artist?.name ?? "All artists"}</span>
          {organization !== null && (
            <span className="block truncate text-xs text-muted-foreground">
              {organization.name}
            </span>
          )}
        </span>
        <ChevronsUpDown aria-hidden className="size-4 shrink-0 text-muted-foreground" />
      </MenuButton>
    </div>
  );
}

/** Goes back to all artists when the chosen one was deleted or is out of reach. */
function useForgottenArtist(id: string | null): void {
  useEffect(() => {
    if (id === null) return;
    const controller = new AbortController();
    void api(`/api/artists/${id}`, { signal: controller.signal }).then((result) => {
      if (result.ok || result.error.status !== 404) return;
      if (currentScope().artist?.id === id) chooseArtist(null);
    });
    return () => controller.abort();
  }, [id]);
}
