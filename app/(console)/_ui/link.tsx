import Base from "next/link";
import type { ComponentProps } from "react";
import { cn } from "./class-names.ts";

/** A link whose page is loaded by a click: a list would otherwise request many that no one opens. */
export const Link = (props: ComponentProps<typeof Base>) => <Base prefetch={false} {...props} />;

/** A link in a text. */
export const TextLink = ({ className, ...rest }: ComponentProps<typeof Base>) => (
  <Link
    {...rest}
    className={cn("text-accent-text underline-offset-4 hover:underline", className)}
  />
);
