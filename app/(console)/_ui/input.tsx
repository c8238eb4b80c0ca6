import type { ComponentProps } from "react";
import { cn } from "./class-names.ts";

export const controlStyle =
  "w-full rounded-md border border-input bg-surface px-3 text-base shadow-xs transition-colors disabled:opacity-55 aria-invalid:border-danger-text max-sm:text-[16px]";

export function Input({ className, ...rest }: ComponentProps<"input">) {
  return <input {...rest} className={cn(controlStyle, "h-9", className)} />;
}
