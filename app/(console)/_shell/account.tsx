"use client";
import { LogOut } from "lucide-react";
import { signOut, useSession } from "@/lib/console/auth.ts";
import { Button } from "../_ui/button.tsx";
import { Skeleton } from "../_ui/skeleton.tsx";
import { ThemeToggle } from "./theme-toggle.tsx";

/** Who is signed in, the colours, and the way out. */
export function Account() {
  const session = useSession();
  return (
    <div className="flex h-12 items-center gap-1 border-t px-3">
      {session.status === "signed-in" ? (
        <span
          title={session.email}
          className="min-w-0 flex-1 truncate text-sm text-muted-foreground"
        >
          {session.email}
        </span>
      ) : (
        <div className="flex-1">
          <Skeleton className="h-4 w-32" />
        </div>
      )}
      <ThemeToggle />
      <Button
        variant="ghost"
        size="icon"
        aria-label="Sign out"
        title="Sign out"
        onClick={() => void signOut()}
      >
        <LogOut aria-hidden />
      </Button>
    </div>
  );
}
