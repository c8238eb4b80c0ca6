"use client";
import Link from "next/link";
import { usePathname } from "next/navigation";
import { cn } from "../_ui/class-names.ts";
import { navItems } from "./nav-items.ts";

export function Navigation({ onNavigate }: { readonly onNavigate?: () => void }) {
  const path = usePathname();
  return (
    <nav aria-label="Main">
      <ul className="flex flex-col gap-0.5">
        {navItems.map(({ href, label, icon: Icon }) => {
          const current = path === href || path.startsWith(`${href}/`);
          return (
            <li key={href}>
              <Link
                href={href}
                prefetch={false}
                aria-current={current ? "page" : undefined}
                {...(onNavigate === undefined ? {} : { onClick: onNavigate })}
                className={cn(
                  "flex h-8 items-center gap-2.5 rounded-md px-2 text-muted-foreground hover:bg-hover hover:text-foreground",
                  current && "bg-hover font-medium text-foreground",
                )}
              >
                <Icon aria-hidden className="size-4 shrink-0" />
                {label}
              </Link>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}
