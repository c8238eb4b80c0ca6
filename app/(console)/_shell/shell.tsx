"use client";
import { Menu } from "lucide-react";
import dynamic from "next/dynamic";
import { usePathname } from "next/navigation";
import { type ReactNode, useState } from "react";
import { useSession } from "@/app/(console)/_session/auth.ts";
import { Button, buttonStyle } from "../_ui/button.tsx";
import { cn } from "../_ui/class-names.ts";
import { Skeleton } from "../_ui/skeleton.tsx";
import { Account } from "./account.tsx";
import { Brand } from "./brand.tsx";
import { useFrame } from "./frame.tsx";
import { Navigation } from "./navigation.tsx";
import { SidebarSlot, SidebarSlotProvider } from "./sidebar-slot.tsx";
import { SignInPage } from "./sign-in-page.tsx";
import { ThemeToggle } from "./theme-toggle.tsx";

const Drawer = dynamic(() => import("./drawer.tsx").then((module) => module.Drawer));

const needAccount = ["/chat", "/templates", "/content", "/runs", "/connectors", "/keys"];

/** The start, the reference and what is not there are for everybody. */
const isPublic = (path: string): boolean =>
  !needAccount.some((page) => path === page || path.startsWith(`${page}/`));

/**
 * Navigation beside the page for who is signed in. Others see the page under a plain bar where it is
 * public, and elsewhere the sign-in in its place: the address stays, so they come out where they
 * wanted to go.
 */
export function Shell({ children }: { readonly children: ReactNode }) {
  const session = useSession();
  const { wasSignedIn } = useFrame();
  const path = usePathname();
  const open = isPublic(path);
  if (path === "/docs") return <ReferenceFrame>{children}</ReferenceFrame>;
  if (session.status === "signed-in" || (session.status === "loading" && wasSignedIn)) {
    return (
      <SignedInFrame>
        {session.status === "signed-in" || open ? children : <PageSkeleton />}
      </SignedInFrame>
    );
  }
  return (
    <SignedOutFrame>
      {open ? children : session.status === "loading" ? <PageSkeleton /> : <SignInPage />}
    </SignedOutFrame>
  );
}

function SignedInFrame({ children }: { readonly children: ReactNode }) {
  const [drawer, setDrawer] = useState(false);
  return (
    <SidebarSlotProvider>
      <div className="flex h-dvh flex-col md:flex-row">
        <SkipLink />
        <header className="flex h-12 shrink-0 items-center gap-2 border-b bg-sidebar px-3 md:hidden">
          <Button
            variant="ghost"
            size="icon"
            aria-label="Open navigation"
            aria-expanded={drawer}
            onClick={() => setDrawer(true)}
          >
            <Menu aria-hidden />
          </Button>
          <Brand />
        </header>
        <aside className="hidden w-60 shrink-0 flex-col border-r bg-sidebar md:flex">
          <div className="flex h-13 shrink-0 items-center px-4">
            <Brand />
          </div>
          <div className="shrink-0 px-2 pb-2">
            <Navigation />
          </div>
          {drawer ? <div className="flex-1" /> : <SidebarSlot />}
          <Account />
        </aside>
        {drawer && <Drawer onClose={() => setDrawer(false)} />}
        <Main>{children}</Main>
      </div>
    </SidebarSlotProvider>
  );
}

/** The reference has a navigation of its own, and the window to scroll in. */
function ReferenceFrame({ children }: { readonly children: ReactNode }) {
  const session = useSession();
  return (
    <>
      <SkipLink />
      <TopBar className="sticky top-0 z-20 bg-background">
        {session.status !== "loading" && (
          // A page of its own policy: see the matching link in the navigation.
          <a href="/" className={buttonStyle({ variant: "outline", size: "sm" })}>
            {session.status === "signed-in" ? "Open the console" : "Sign in"}
          </a>
        )}
      </TopBar>
      {/* The reference brings its own main landmark. */}
      <div id="main" tabIndex={-1} className="outline-none">
        {children}
      </div>
    </>
  );
}

function TopBar({
  className,
  children,
}: {
  readonly className?: string;
  readonly children: ReactNode;
}) {
  return (
    <header
      className={cn("flex h-13 shrink-0 items-center gap-2 border-b px-4 sm:px-6", className)}
    >
      <Brand />
      <div className="flex-1" />
      {children}
      <ThemeToggle />
    </header>
  );
}

function SignedOutFrame({ children }: { readonly children: ReactNode }) {
  return (
    <div className="flex h-dvh flex-col">
      <SkipLink />
      <TopBar>
        <a href="/docs" className={buttonStyle({ variant: "ghost", size: "sm" })}>
          API reference
        </a>
      </TopBar>
      <Main>{children}</Main>
    </div>
  );
}

/** The one part of the window that scrolls; a page may fill it and scroll inside itself. */
function Main({ children }: { readonly children: ReactNode }) {
  return (
    <main
      id="main"
      tabIndex={-1}
      className="relative min-h-0 min-w-0 flex-1 overflow-y-auto outline-none"
    >
      {children}
    </main>
  );
}

function SkipLink() {
  return (
    <a
      href="#main"
      className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:rounded-md focus:bg-accent focus:px-3 focus:py-2 focus:text-accent-foreground"
    >
      Skip to the content
    </a>
  );
}

function PageSkeleton() {
  return (
    <div aria-busy="true" className="mx-auto w-full max-w-5xl px-4 py-6 sm:px-8 sm:py-8">
      <p className="sr-only">Loading</p>
      <Skeleton className="h-7 w-40" />
      <Skeleton className="mt-2 h-5 w-72 max-w-full" />
      <Skeleton className="mt-6 h-48 w-full rounded-xl" />
    </div>
  );
}
