"use client";
import { LogOut } from "lucide-react";
import { signOut, useSession } from "@/app/(console)/_session/auth.ts";
import { Button } from "../_ui/button.tsx";
import { Skeleton } from "../_ui/skeleton.tsx";
import { ThemeToggle } from "./theme-toggle.tsx";

/** The signed-in email address, the theme toggle and the sign-out button. */
export function Account() {
  const session = useSession();
  return (
    <section aria-label="Account" className="shrink-0 border-t px-3 py-2">
      {session.status === "signed-in" ? (
        <p title={session.email} className="truncate px-1 text-sm text-muted-foreground">
          {session.email}
        </p>
      ) : (
        <Skeleton className="mx-1 my-0.5 h-4 w-32" />
      )}
      <div className="mt-0.5 flex items-center">
        <ThemeToggle />
        <Button variant="ghost" size="sm" className="ml-auto" onClick={() => void signOut()}>
          <LogOut aria-hidden />
          Sign out
        </Button>
      </div>
    </section>
  );
}
