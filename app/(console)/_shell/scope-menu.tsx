import { useRouter } from "next/navigation";
import type { ReactNode } from "react";
import type { Artist } from "@/lib/artists/artist.ts";
import { useOrganizations } from "../_hooks/shared-reads.ts";
import { usePages } from "../_hooks/use-pages.ts";
import { chooseArtist, chooseOrganization, useScope } from "../_session/scope.ts";
import { AnchoredMenu, MenuItem, MenuSeparator } from "../_ui/dropdown-menu.tsx";
import { Building2, Check, Plus, UserRound, UsersRound } from "../_ui/icons.tsx";
import type { MenuState } from "../_ui/menu-button.tsx";
import { ArtistCover } from "../artists/artist-tag.tsx";

/** The menu of the switcher: organizations where the account has any, and artists. */
export function ScopeMenu(state: MenuState) {
  const router = useRouter();
  const { artist: chosen, organization } = useScope();
  const filter = organization === null ? "" : `?org_id=${organization.id}`;
  const artists = usePages<Artist>(`/api/artists${filter}`, "artists");
  // A member limited to artists cannot act for the organization.
  const organizations = useOrganizations().filter((one) => one.artist_ids === null);
  return (
    <AnchoredMenu {...state} label="Working for">
      <div className="max-h-[60vh] w-50 overflow-y-auto">
        {organizations.length > 0 && (
          <>
            <Choice
              isChosen={organization === null}
              icon={<UserRound aria-hidden />}
              label="Personal account"
              onSelect={() => chooseOrganization(null)}
            />
            {organizations.map(({ organization_id: id, organization_name: name }) => (
              <Choice
                key={id}
                isChosen={organization?.id === id}
                icon={<Building2 aria-hidden />}
                label={name}
                onSelect={() => chooseOrganization({ id, name })}
              />
            ))}
            <MenuSeparator />
          </>
        )}
        <Choice
          isChosen={chosen === null}
          icon={<UsersRound aria-hidden />}
          label="All artists"
          onSelect={() => chooseArtist(null)}
        />
        {artists.items === undefined && artists.error === null && (
          <p role="status" className="px-2 py-1.5 text-sm text-muted-foreground">
            Loading artists…
          </p>
        )}
        {artists.items?.map((artist) => (
          <Choice
            key={artist.account_id}
            isChosen={chosen?.id === artist.account_id}
            icon={<ArtistCover artist={artist} className="size-5" />}
            label={artist.name}
            onSelect={() => chooseArtist(artist)}
          />
        ))}
        <MenuSeparator />
        <MenuItem icon={Plus} onSelect={() => router.push("/artists")}>
          {artists.hasMore ? "Show all artists" : "Manage artists"}
        </MenuItem>
      </div>
    </AnchoredMenu>
  );
}

interface ChoiceProps {
  readonly isChosen: boolean;
  readonly icon: ReactNode;
  readonly label: string;
  readonly onSelect: () => void;
}

const Choice = ({ isChosen, icon, label, onSelect }: ChoiceProps) => (
  <MenuItem onSelect={onSelect} {...(isChosen ? { "aria-current": "true" } : {})}>
    {icon}
    <span className="min-w-0 flex-1 truncate">{label}</span>
    {isChosen && <Check aria-hidden />}
  </MenuItem>
);
