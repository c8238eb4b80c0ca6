import type { ComponentProps } from "react";
import { cn } from "./class-names.ts";

const tones = {
  neutral: "bg-muted text-muted-foreground",
  accent: "bg-accent-soft text-accent-text",
  success: "bg-success-soft text-success-text",
  warning: "bg-warning-soft text-warning-text",
  danger: "bg-danger-soft text-danger-text",
};

export function Badge({
  tone = "neutral",
  className,
  children,
  ...rest
}: ComponentProps<"span"> & { readonly tone?: keyof typeof tones | undefined }) {
  const style =
    "inline-flex max-w-full items-center gap-1 rounded-full px-2 py-0.5 text-xs font-medium whitespace-nowrap [&_svg]:size-3";
  return (
    <span {...rest} className={cn(style, tones[tone], className)}>
      {typeof children === "string" ? <span className="truncate">{children}</span> : children}
    </span>
  );
}
