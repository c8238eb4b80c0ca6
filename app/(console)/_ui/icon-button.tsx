import type { ComponentProps } from "react";
import { Button } from "./button.tsx";
import { cn } from "./class-names.ts";

/** The look of a small button among text; also for a `CopyButton`. */
export const iconButtonStyle = "size-7 text-muted-foreground [&_svg]:size-3.5";

/** A small button with only an icon. `label` is its name for screen readers, and its tooltip unless there is a `title`. */
export function IconButton({
  label,
  className,
  ...rest
}: Omit<ComponentProps<typeof Button>, "aria-label" | "variant" | "size"> & {
  readonly label: string;
}) {
  return (
    <Button
      title={label}
      {...rest}
      variant="ghost"
      size="icon"
      aria-label={label}
      className={cn(iconButtonStyle, className)}
    />
  );
}
