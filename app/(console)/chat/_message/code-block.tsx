"use client";
import { CopyButton } from "../../_ui/copy-button.tsx";
import { ScrollBox } from "../../_ui/scroll-box.tsx";

/** A block of code with a button to copy it. */
export function CodeBlock({
  text,
  language,
}: {
  readonly text: string;
  readonly language: string;
}) {
  return (
    <div className="min-w-0 overflow-hidden rounded-lg border bg-muted/50">
      <div className="flex h-8 items-center justify-between border-b pr-1 pl-3 text-xs text-muted-foreground">
        <span className="truncate font-mono">{language || "text"}</span>
        <CopyButton
          text={text}
          label="Copy code"
          variant="ghost"
          className="size-6 [&_svg]:size-3.5"
        />
      </div>
      <Code
        text={text}
        label={language === "" ? "Code" : `Code, ${language}`}
        className="max-h-[32rem]"
      />
    </div>
  );
}

/** Preformatted text in a scrollable box. */
export function Code({
  text,
  label,
  className = "",
}: {
  readonly text: string;
  readonly label: string;
  readonly className?: string;
}) {
  return (
    <ScrollBox label={label} className={`rounded-none ${className}`}>
      <pre className="w-fit min-w-full px-3 py-2.5 font-mono text-[0.8125rem] leading-normal whitespace-pre">
        {text}
      </pre>
    </ScrollBox>
  );
}
