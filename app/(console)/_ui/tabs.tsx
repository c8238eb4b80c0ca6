"use client";
import { Tabs as Base } from "radix-ui";
import type { ComponentProps } from "react";
import { cn } from "./class-names.ts";
import { tabBarStyle, tabStyle } from "./tab-style.ts";

export const Tabs = Base.Root;

export function TabsList({ className, ...rest }: ComponentProps<typeof Base.List>) {
  return <Base.List {...rest} className={cn(tabBarStyle, className)} />;
}

export function TabsTrigger({ className, ...rest }: ComponentProps<typeof Base.Trigger>) {
  return (
    <Base.Trigger
      {...rest}
      className={cn(
        tabStyle,
        "data-[state=active]:border-foreground data-[state=active]:text-foreground",
        className,
      )}
    />
  );
}

export function TabsContent({ className, ...rest }: ComponentProps<typeof Base.Content>) {
  return <Base.Content {...rest} className={cn("pt-4", className)} />;
}
