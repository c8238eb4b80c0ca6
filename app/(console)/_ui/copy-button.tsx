"use client";
import { Check, Copy } from "lucide-react";
import { type ComponentProps, useEffect, useState } from "react";
import { Button } from "./button.tsx";
import { toast } from "./toast.tsx";

/** A button that copies `text`. `label` is its tooltip and its name for screen readers. */
export function CopyButton({
  text,
  label,
  children,
  ...rest
}: Omit<ComponentProps<typeof Button>, "onClick"> & {
  readonly text: string;
  readonly label: string;
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
      variant="outline"
      size={children === undefined ? "icon" : "sm"}
      {...rest}
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
