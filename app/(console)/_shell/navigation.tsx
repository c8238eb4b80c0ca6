import { useQuery } from "@tanstack/react-query";
import { usePathname } from "next/navigation";
import { useEffect, useId, useSyncExternalStore } from "react";
import type { listInvitationsContract } from "@/lib/organizations/contract.ts";
import { type Answer, api, read } from "../_api/request.ts";
import { useNewestRuns } from "../_hooks/shared-reads.ts";
import { keyOf } from "../_hooks/use-query.ts";
import { lazyComponent } from "../_load/lazy-component.tsx";
import { LazyCover } from "../_session/artist-chip.tsx";
import { signOut, useSession } from "../_session/auth.ts";
import { chooseArtist, currentScope, subscribeToStorage, useScope } from "../_session/scope.ts";
import { ButtonLink, IconButton } from "../_ui/button.tsx";
import {
  AudioLines,
  ChevronRight,
  ChevronsUpDown,
  LogOut,
  Mail,
  UsersRound,
} from "../_ui/icons.tsx";
import { Link } from "../_ui/link.tsx";
import { MenuButton } from "../_ui/menu-button.tsx";
import { Skeleton } from "../_ui/states.tsx";
import { readList, writeList } from "../chat/_state/drafts.ts";
import { isWithin, type NavGroup, type NavItem, navGroups, settingsItem } from "./nav-items.ts";
import { ThemeToggle } from "./theme-toggle.tsx";

/** The pages in groups. All but the first are folded at first, except for their page that is open. */
export function Navigation() {
  const isSignedIn = useSession().status === "signed-in";
  const waiting = useNewestRuns(false, isSignedIn).data?.waiting ?? 0;
  return (
    <nav aria-label="Main" className="flex flex-col gap-2">
      {navGroups.map((group, index) => (
        <Group key={group.label} {...group} waiting={waiting} isFoldable={index > 0} />
      ))}
    </nav>
  );
}

interface GroupProps extends NavGroup {
  /** The number of runs that wait, which shows their page even where it is folded away. */
  readonly waiting: number;
  readonly isFoldable: boolean;
}

function Group({ label, items, waiting, isFoldable }: GroupProps) {
  const id = useId();
  const path = usePathname();
  const key = `navigation ${label}`;
  const isOpen = useSyncExternalStore(
    subscribeToStorage,
    () => localStorage.getItem(key) === "open",
    () => false,
  );
  const toggle = () => {
    localStorage.setItem(key, isOpen ? "folded" : "open");
    dispatchEvent(new Event("storage"));
  };
  const waitingAt = (href: string) => (href === "/runs" ? waiting : 0);
  const isPinned = ({ href }: NavItem) => isWithin(path, href) || waitingAt(href) > 0;
  const shown = isFoldable && !isOpen ? items.filter(isPinned) : items;
  return (
    <div>
      {isFoldable ? (
        <button
          id={id}
          type="button"
          aria-expanded={isOpen}
          onClick={toggle}
          className="flex h-6 w-full items-center gap-1 rounded-md px-2 text-xs font-medium text-muted-foreground hover:text-foreground max-md:h-8"
        >
          {label}
          <ChevronRight
            aria-hidden
            className="size-3 transition-transform in-aria-expanded:rotate-90"
          />
        </button>
      ) : (
        <p id={id} className="sr-only">
          {label}
        </p>
      )}
      <ul aria-labelledby={id} className="flex flex-col gap-px">
        {shown.map((item) => (
          <li key={item.href}>
            <NavLink item={item} waiting={waitingAt(item.href)} />
          </li>
        ))}
      </ul>
    </div>
  );
}

type NavLinkProps = Readonly<{ item: NavItem; waiting: number }>;

function NavLink({ item: { href, label, icon: Icon }, waiting }: NavLinkProps) {
  const isCurrent = isWithin(usePathname(), href);
  return (
    <Link
      href={waiting > 0 ? `${href}?tab=waiting` : href}
      aria-current={isCurrent ? "page" : undefined}
      className="flex h-7 items-center gap-2.5 rounded-md px-2 text-muted-foreground transition-colors hover:bg-hover hover:text-foreground aria-[current=page]:bg-hover aria-[current=page]:font-medium aria-[current=page]:text-foreground max-md:h-9"
    >
      <Icon aria-hidden className="size-4 shrink-0 in-aria-[current=page]:text-accent-text" />
      {label}
      {waiting > 0 && (
        <span className="ml-auto rounded-full bg-warning-soft px-1.5 text-xs font-medium text-warning-text">
          {waiting}
          <span className="sr-only"> waiting</span>
        </span>
      )}
    </Link>
  );
}

/** The settings, the signed-in email address, the theme toggle and the sign-out button. */
export function Account() {
  const session = useSession();
  const email = session.status === "signed-in" ? session.email : undefined;
  return (
    <section aria-label="Account" className="shrink-0 border-t px-2 py-1.5">
      {email && <InvitationNotice email={email} />}
      <div className="flex items-center pl-2">
        <div title={email} className="min-w-0 flex-1 truncate text-sm text-muted-foreground">
          {email ?? <Skeleton className="h-4 w-28" />}
        </div>
        <ButtonLink
          href={settingsItem.href}
          aria-label={settingsItem.label}
          title={settingsItem.label}
          variant="ghost"
          size="icon"
        >
          <settingsItem.icon aria-hidden />
        </ButtonLink>
        <ThemeToggle />
        <IconButton icon={LogOut} isLarge label="Sign out" onClick={() => void signOut()} />
      </div>
    </section>
  );
}

export const Brand = () => (
  <Link
    href="/"
    aria-label="Agent Platform home"
    className="flex min-w-0 items-center gap-2 rounded-md font-semibold"
  >
    <span className="grid size-6 shrink-0 place-items-center rounded-md bg-accent text-accent-foreground">
      <AudioLines aria-hidden className="size-4" />
    </span>
    <span className="truncate">Agent Platform</span>
  </Link>
);

type Invitations = Answer<typeof listInvitationsContract>;
type StoredInvitations = Readonly<{ at: number; data: Invitations }>;

const PATH = "/api/invitations?limit=100";
const MAX_AGE_MS = 600_000;
const storageKey = (email: string): string => `invitations ${email}`;

/** Leads to the open invitations, which are read every ten minutes at most. */
function InvitationNotice({ email }: { readonly email: string }) {
  const stored = () => readList<StoredInvitations>("localStorage", () => storageKey(email))[0];
  const { data, dataUpdatedAt } = useQuery({
    queryKey: keyOf(PATH),
    queryFn: ({ signal }) => read<Invitations>(PATH, signal),
    staleTime: MAX_AGE_MS,
    initialData: () => stored()?.data,
    initialDataUpdatedAt: () => stored()?.at,
  });
  useEffect(() => {
    if (data) writeList("localStorage", () => storageKey(email), [{ at: dataUpdatedAt, data }]);
  }, [data, dataUpdatedAt, email]);
  const count = data?.invitations.length ?? 0;
  if (count === 0) return null;
  return (
    <Link
      href="/invitations"
      className="mb-1 flex h-8 items-center gap-2.5 rounded-md bg-accent-soft px-2 font-medium text-accent-text"
    >
      <Mail aria-hidden className="size-4" />
      {count === 1 ? "1 invitation" : `${count} invitations`}
    </Link>
  );
}

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
