"use client";
import { type ComponentProps, useEffect, useState } from "react";
import { Button, iconButtonStyle } from "./button.tsx";
import { cn } from "./class-names.ts";
import { Check, Copy } from "./icons.tsx";
import { toast } from "./toast.tsx";

/** A button that copies `text`. `label` is its tooltip and its name for screen readers. */
export function CopyButton({
  text,
  label,
  isSmall = false,
  className,
  children,
  ...rest
}: Omit<ComponentProps<typeof Button>, "onClick"> & {
  readonly text: string;
  readonly label: string;
  /** Whether it is part of a text, like an `IconButton`. */
  readonly isSmall?: boolean;
}) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 2_000);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setCopied(true),
      () => toast("Could not copy. Select the text and copy it instead.", "danger"),
    );
  return (
    <Button
      variant={isSmall ? "ghost" : "outline"}
      size={children === undefined ? "icon" : "sm"}
      {...rest}
      className={cn(isSmall && iconButtonStyle, className)}
      {...(children === undefined ? { "aria-label": label, title: label } : {})}
      onClick={() => void copy()}
    >
      {copied ? <Check aria-hidden className="text-success-text" /> : <Copy aria-hidden />}
      {children}
      <span role="status" className="sr-only">
        {copied ? "Copied" : ""}
      </span>
    </Button>
  );
}

/** An id with a button that copies it. `label` is the name of the button. */
export const CopyableId = ({ id, label }: { readonly id: string; readonly label: string }) => (
  <div className="flex items-center gap-1">
    <code className="min-w-0 font-mono text-xs break-all text-muted-foreground">{id}</code>
    <CopyButton isSmall text={id} label={label} className="size-6 shrink-0" />
  </div>
);

/** A text in full, such as a secret or a command, with a button that copies it. */
export const CopyableText = ({
  label,
  text,
}: {
  readonly label: string;
  readonly text: string;
}) => (
  <div className="mt-1.5 flex items-start gap-2">
    <code className="min-w-0 flex-1 rounded-md border bg-muted px-3 py-2 font-mono text-sm break-all">
      {text}
    </code>
    <CopyButton text={text} label={`Copy ${label}`} />
  </div>
);
