"use client";
import { LogOut } from "lucide-react";
import { signOut, useSession } from "../_session/auth.ts";
import { ButtonLink, IconButton } from "../_ui/button.tsx";
import { Skeleton } from "../_ui/states.tsx";
import { settingsItem } from "./nav-items.ts";
import { ThemeToggle } from "./theme-toggle.tsx";

/** The settings, the signed-in email address, the theme toggle and the sign-out button. */
export function Account({ onNavigate }: { readonly onNavigate?: () => void }) {
  const session = useSession();
  return (
    <section aria-label="Account" className="shrink-0 border-t px-2 py-1.5">
      <div className="flex items-center pl-2">
        {session.status === "signed-in" ? (
          <p
            title={session.email}
            className="min-w-0 flex-1 truncate text-sm text-muted-foreground"
          >
            {session.email}
          </p>
        ) : (
          <div className="flex-1">
            <Skeleton className="h-4 w-28" />
          </div>
        )}
        <ButtonLink
          href={settingsItem.href}
          aria-label={settingsItem.label}
          title={settingsItem.label}
          {...(onNavigate === undefined ? {} : { onClick: onNavigate })}
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
