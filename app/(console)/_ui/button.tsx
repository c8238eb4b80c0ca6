import type { ComponentProps } from "react";
import { cn } from "./class-names.ts";
import { type IconComponent, LoaderCircle } from "./icons.tsx";
import { Link } from "./link.tsx";

const base =
  "relative inline-flex shrink-0 items-center justify-center gap-2 font-medium whitespace-nowrap select-none transition-colors disabled:opacity-55 disabled:pointer-events-none [&_svg]:size-4 [&_svg]:shrink-0";
const variants = {
  primary: "bg-primary text-primary-foreground hover:bg-primary-hover",
  outline: "border border-input bg-surface hover:bg-muted",
  ghost: "hover:bg-hover",
  quiet: "text-muted-foreground hover:bg-hover",
  danger: "bg-danger text-danger-foreground hover:bg-danger-hover",
  "danger-ghost": "text-danger-text hover:bg-danger-soft",
};
const sizes = { sm: "h-7 px-2.5 text-sm", md: "h-9 px-3.5", lg: "h-10 px-5", icon: "size-8" };
const shapes = { small: "rounded-md", large: "rounded-lg", round: "rounded-full" };

interface ButtonStyle {
  readonly variant?: keyof typeof variants | undefined;
  readonly size?: keyof typeof sizes | undefined;
  readonly corners?: keyof typeof shapes | undefined;
  readonly className?: string | undefined;
}

interface Labeled {
  /** Stands before the text, as a decoration. */
  readonly icon?: IconComponent;
}

/** Styles a link as a button. See `ButtonLink` for links within the console. */
export const buttonStyle = ({
  variant = "primary",
  size = "md",
  corners = "small",
  className,
}: ButtonStyle = {}): string =>
  cn(`${base} ${variants[variant]} ${sizes[size]} ${shapes[corners]}`, className);

interface ButtonProps extends ComponentProps<"button">, Omit<ButtonStyle, "className">, Labeled {
  /** Shows a spinner and disables the button without changing its width. */
  readonly busy?: boolean;
}

/** Defaults to `type="button"`. A button with only an icon needs an `aria-label`. */
export const Button = ({
  variant,
  size,
  corners,
  busy = false,
  icon: Icon,
  className,
  disabled,
  children,
  ...rest
}: ButtonProps) => (
  <button
    type="button"
    {...rest}
    disabled={disabled || busy}
    aria-busy={busy || undefined}
    className={buttonStyle({ variant, size, corners, className })}
  >
    {busy && (
      <span className="absolute inset-0 grid place-items-center">
        <LoaderCircle aria-hidden className="animate-spin" />
      </span>
    )}
    <span className={busy ? "invisible inline-flex items-center gap-2" : "contents"}>
      {Icon && <Icon aria-hidden />}
      {children}
    </span>
  </button>
);

/** A button in a row or beside a text: "Rotate", "Show all 24". */
export const SmallButton = (props: ComponentProps<typeof Button>) => (
  <Button variant="outline" size="sm" {...props} />
);

/** The look of a small button among text; also for a `CopyButton`. */
export const iconButtonStyle = "size-7 text-muted-foreground [&_svg]:size-3.5";

type IconButtonProps = Omit<ComponentProps<typeof Button>, "aria-label" | "size"> & {
  readonly label: string;
  /** For a button of a page, not of a line of text. */
  readonly isLarge?: boolean;
};

/** A button with only an icon. `label` is its name for screen readers, and its tooltip unless there is a `title`. */
export const IconButton = ({ label, isLarge = false, className, ...rest }: IconButtonProps) => (
  <Button
    title={label}
    variant="ghost"
    {...rest}
    size="icon"
    aria-label={label}
    className={cn(!isLarge && iconButtonStyle, className)}
  />
);

export const ButtonLink = ({
  variant,
  size,
  corners,
  icon: Icon,
  className,
  children,
  ...rest
}: Omit<ComponentProps<typeof Link>, "className"> & ButtonStyle & Labeled) => (
  <Link {...rest} className={buttonStyle({ variant, size, corners, className })}>
    {Icon && <Icon aria-hidden />}
    {children}
  </Link>
);
