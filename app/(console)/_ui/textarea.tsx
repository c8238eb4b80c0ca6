import type { ComponentProps } from "react";
import { cn } from "./class-names.ts";
import { controlStyle } from "./input.tsx";

export function Textarea({ className, ...rest }: ComponentProps<"textarea">) {
  return <textarea rows={4} {...rest} className={cn(controlStyle, "py-2", className)} />;
}
