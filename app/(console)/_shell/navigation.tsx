"use client";
import Link from "next/link";
import { usePathname } from "next/navigation";
import { useId } from "react";
import { useRemembered } from "@/app/(console)/_shell/onboarding-choice.ts";
import { cn } from "../_ui/class-names.ts";
import { type NavItem, navGroups, settingsItem, welcomeItem } from "./nav-items.ts";

export function Navigation({ onNavigate }: { readonly onNavigate?: () => void }) {
  const id = useId();
  return (
    <nav aria-label="Main" className="flex flex-col gap-3">
      {navGroups.map(({ label, items }, index) => (
        <div key={label}>
          <p
            id={`${id}-${label}`}
            className={
              index === 0 ? "sr-only" : "px-2 pb-0.5 text-xs font-medium text-muted-foreground"
            }
          >
            {label}
          </p>
          <ul aria-labelledby={`${id}-${label}`} className="flex flex-col gap-px">
            {items.map((item) => (
              <li key={item.href}>
                <NavLink item={item} onNavigate={onNavigate} />
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}

/** The links that stand apart from the pages: the checklist of a new account, and the settings. */
export function AccountLinks({
  email,
  onNavigate,
}: {
  readonly email: string;
  readonly onNavigate: (() => void) | undefined;
}) {
  const isDismissed = useRemembered(email, "dismissed");
  return (
    <>
      {!isDismissed && <NavLink item={welcomeItem} onNavigate={onNavigate} />}
      <NavLink item={settingsItem} onNavigate={onNavigate} />
    </>
  );
}

function NavLink({
  item: { href, label, icon: Icon },
  onNavigate,
}: {
  readonly item: NavItem;
  readonly onNavigate: (() => void) | undefined;
}) {
  const path = usePathname();
  const current = path === href || path.startsWith(`${href}/`);
  return (
    <Link
      href={href}
      prefetch={false}
      aria-current={current ? "page" : undefined}
      {...(onNavigate === undefined ? {} : { onClick: onNavigate })}
      className={cn(
        "flex h-7.5 items-center gap-2.5 rounded-md px-2 text-muted-foreground transition-colors hover:bg-hover hover:text-foreground max-md:h-9",
        current && "bg-hover font-medium text-foreground",
      )}
    >
      <Icon aria-hidden className={cn("size-4 shrink-0", current && "text-accent-text")} />
      {label}
    </Link>
  );
}
