import type { ComponentProps } from "react";
import { cn } from "./class-names.ts";

export function Card({ className, ...rest }: ComponentProps<"div">) {
  return <div {...rest} className={cn("rounded-xl border bg-surface p-4 shadow-xs", className)} />;
}
