"use client";
import { useQueryClient } from "@tanstack/react-query";
import { usePathname, useRouter } from "next/navigation";
import {
  Activity,
  createContext,
  memo,
  type ReactNode,
  useContext,
  useEffect,
  useState,
} from "react";
import { lazyComponent } from "../_load/lazy-component.tsx";
import { useSession } from "../_session/auth.ts";
import { ButtonLink, IconButton } from "../_ui/button.tsx";
import { Menu, Search } from "../_ui/icons.tsx";
import { Loading, Skeleton } from "../_ui/states.tsx";
import { ChatSidebar } from "../chat/_list/chat-sidebar.tsx";
import { useFrame } from "./frame.tsx";
import { isWithin, navItems } from "./nav-items.ts";
import { Account, Brand, Navigation, ScopeSwitcher } from "./navigation.tsx";
import { useRunNotices } from "./run-notices.ts";
import { pageOfKey } from "./shortcut-list.ts";
import { ThemeToggle } from "./theme-toggle.tsx";

const Drawer = lazyComponent(() => import("./drawer.tsx"), "Drawer");
const SignInPage = lazyComponent(() => import("./sign-in.tsx"), "SignInPage");

const privatePages = navItems
  .map(({ href }) => href)
  .concat("/chat")
  .filter((href) => href !== "/docs");

/**
 * Whether the server renders the page itself, not its outline, for a browser that was signed in before: a
 * message can be typed while the scripts are still loading.
 */
const isRenderedAhead = (path: string): boolean => isWithin(path, "/chat");

/** The landing page, the documentation and the 404 page are public. */
const isPublic = (path: string): boolean => !privatePages.some((page) => isWithin(path, page));

/**
 * The layout of all pages. Signed-in users see the navigation next to the page. Others see public
 * pages below a top bar, and the sign-in form in place of private ones. The address stays the same,
 * so signing in leads to the page they wanted.
 */
export function Shell({ children }: { readonly children: ReactNode }) {
  const session = useSession();
  const { wasSignedIn } = useFrame();
  const path = usePathname();
  const isOpen = isPublic(path);
  if (session.status === "signed-in" || (session.status === "loading" && wasSignedIn)) {
    return (
      <SignedInFrame>
        {session.status === "signed-in" || isOpen || isRenderedAhead(path) ? (
          children
        ) : (
          <PageSkeleton />
        )}
      </SignedInFrame>
    );
  }
  return (
    <SignedOutFrame>
      {isOpen ? children : session.status === "loading" ? <PageSkeleton /> : <SignInPage />}
    </SignedOutFrame>
  );
}

/**
 * Each boundary hydrates separately, which makes the page usable before the navigation. It is
 * memoized, because new properties would hydrate all of them at once when the session is known.
 */
const SignedInFrame = memo(function SignedInFrame({ children }: { readonly children: ReactNode }) {
  const [drawer, setDrawer] = useState(false);
  return (
    <Commands>
      <div className="group/shell flex h-dvh flex-col md:flex-row">
        <SkipLink />
        <header className="flex h-12 shrink-0 items-center gap-2 border-b bg-sidebar px-3 md:hidden">
          <IconButton
            icon={Menu}
            isLarge
            label="Open navigation"
            aria-expanded={drawer}
            onClick={() => setDrawer(true)}
          />
          <span className="flex-1 group-has-[[data-page-header]]/shell:invisible">
            <Brand />
          </span>
          <SearchButton />
        </header>
        <aside className="hidden w-62 shrink-0 flex-col border-r bg-sidebar md:flex">
          <Activity>
            <div className="flex h-13 shrink-0 items-center justify-between pr-2 pl-4">
              <Brand />
              <SearchButton />
            </div>
            <div className="shrink-0 px-2 pb-2">
              <ScopeSwitcher />
            </div>
            <div className="min-h-28 shrink overflow-y-auto px-2 pb-2">
              <Navigation />
            </div>
          </Activity>
          <Activity>{drawer ? <div className="flex-1" /> : <ChatSidebar />}</Activity>
          <Activity>
            <Account />
          </Activity>
        </aside>
        {drawer && <Drawer onClose={() => setDrawer(false)} />}
        <Main>{children}</Main>
      </div>
      <Session />
    </Commands>
  );
});

/** Runs only for a session: before, there is nothing to read. */
function Session() {
  const session = useSession();
  return session.status === "signed-in" ? <ActiveSession key={session.email} /> : null;
}

function ActiveSession() {
  const client = useQueryClient();
  // Another person may sign in next.
  useEffect(() => () => client.clear(), [client]);
  useRunNotices();
  return null;
}

const SignedOutFrame = ({ children }: { readonly children: ReactNode }) => (
  <div className="flex h-dvh flex-col">
    <SkipLink />
    <header className="flex h-13 shrink-0 items-center gap-2 border-b px-4 sm:px-6">
      <Brand />
      <div className="flex-1" />
      {usePathname().startsWith("/docs") ? (
        <ButtonLink href="/" variant="outline" size="sm">
          Sign in
        </ButtonLink>
      ) : (
        <ButtonLink href="/docs" variant="ghost" size="sm">
          Docs
        </ButtonLink>
      )}
      <ThemeToggle />
    </header>
    <Main>{children}</Main>
  </div>
);

/** The part of the window that scrolls. A page may fill it and have its own scrollable areas. */
const Main = ({ children }: { readonly children: ReactNode }) => (
  <main
    id="main"
    tabIndex={-1}
    className="relative min-h-0 min-w-0 flex-1 overflow-y-auto outline-none"
  >
    {children}
  </main>
);

const SkipLink = () => (
  <a
    href="#main"
    className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:rounded-md focus:bg-primary focus:px-3 focus:py-2 focus:text-primary-foreground"
  >
    Skip to content
  </a>
);

const PageSkeleton = () => (
  <Loading label="Loading…" className="mx-auto w-full max-w-6xl px-4 pt-6 sm:px-8 sm:pt-9">
    <Skeleton className="h-7 w-40" />
    <Skeleton className="mt-2 h-5 w-72 max-w-full" />
    <Skeleton className="mt-6 h-48 w-full rounded-xl" />
  </Loading>
);

const CommandPalette = lazyComponent(() => import("./command-palette.tsx"), "CommandPalette");
const ShortcutSheet = lazyComponent(() => import("./shortcut-sheet.tsx"), "ShortcutSheet");

const SEQUENCE_MS = 1_500;

type Opened = "palette" | "shortcuts" | null;
const CommandsContext = createContext<(opened: Opened) => void>(() => {});

/** Listens to the shortcuts, and shows the palette and the sheet of shortcuts, which load when opened. */
function Commands({ children }: { readonly children: ReactNode }) {
  const [opened, setOpened] = useState<Opened>(null);
  const router = useRouter();
  useEffect(() => {
    let startedAt = 0;
    const onKeyDown = (event: KeyboardEvent) => {
      const { key, metaKey, ctrlKey, altKey } = event;
      if ((metaKey || ctrlKey) && !altKey && key.toLowerCase() === "k") {
        event.preventDefault();
        setOpened((now) => (now === "palette" ? null : "palette"));
        return;
      }
      if (metaKey || ctrlKey || altKey || event.defaultPrevented || isTaken(event.target)) return;
      const page = pageOfKey(key);
      const isSecond = event.timeStamp - startedAt < SEQUENCE_MS && startedAt > 0;
      startedAt = !isSecond && key === "g" ? event.timeStamp : 0;
      if (isSecond && page !== undefined) router.push(page);
      else if (key === "?") setOpened("shortcuts");
      else if (key === "c") router.push("/chat");
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, [router]);
  const close = () => setOpened(null);
  return (
    <CommandsContext value={setOpened}>
      {children}
      {opened === "palette" && (
        <CommandPalette onClose={close} onShowShortcuts={() => setOpened("shortcuts")} />
      )}
      {opened === "shortcuts" && <ShortcutSheet onClose={close} />}
    </CommandsContext>
  );
}

/** Keys belong to a text field that has the focus, and to an open dialog or menu. */
function isTaken(target: EventTarget | null): boolean {
  const isTyping =
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches("input, textarea, select"));
  return (
    isTyping ||
    document.querySelector('[role="dialog"], [role="alertdialog"], [role="menu"]') !== null
  );
}

function SearchButton() {
  const open = useContext(CommandsContext);
  return (
    <IconButton
      icon={Search}
      isLarge
      label="Search"
      aria-keyshortcuts="Meta+K Control+K"
      title="Search (⌘K or Ctrl+K)"
      onClick={() => open("palette")}
    />
  );
}
