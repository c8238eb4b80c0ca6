"use client";
import { Tabs as Base } from "radix-ui";
import type { ComponentProps } from "react";
import { cn } from "./class-names.ts";

export const Tabs = Base.Root;

export function TabsList({ className, ...rest }: ComponentProps<typeof Base.List>) {
  return <Base.List {...rest} className={cn("flex gap-1 overflow-x-auto border-b", className)} />;
}

export function TabsTrigger({ className, ...rest }: ComponentProps<typeof Base.Trigger>) {
  return (
    <Base.Trigger
      {...rest}
      className={cn(
        "-mb-px border-b-2 border-transparent px-3 py-2 font-medium whitespace-nowrap text-muted-foreground hover:text-foreground focus-visible:-outline-offset-2 data-[state=active]:border-accent-text data-[state=active]:text-foreground",
        className,
      )}
    />
  );
}

export function TabsContent({ className, ...rest }: ComponentProps<typeof Base.Content>) {
  return <Base.Content {...rest} className={cn("pt-4", className)} />;
}
