"use client";
import { Download, WrapText } from "lucide-react";
import { type RefObject, useLayoutEffect, useRef, useState } from "react";
import { CodeLines } from "../../_code/code-lines.tsx";
import { findLanguage } from "../../_code/languages.ts";
import { useHighlightedLines } from "../../_code/use-highlighted-lines.ts";
import { IconButton, iconButtonStyle } from "../../_ui/button.tsx";
import { cn } from "../../_ui/class-names.ts";
import { CopyButton } from "../../_ui/copy-button.tsx";
import { saveFile } from "../../_ui/save-file.ts";
import { ScrollBox } from "../../_ui/scroll-box.tsx";

interface CodeBlockProps {
  readonly text: string;
  /** As Markdown names it after the fence; empty if it does not. */
  readonly language: string;
  /** True while the text streams: the end stays in view, unless the reader scrolls up. */
  readonly isGrowing?: boolean;
}

/** A block of code, with buttons to wrap its lines, to download and to copy it. */
export function CodeBlock({ text, language, isGrowing = false }: CodeBlockProps) {
  const [isWrapped, setWrapped] = useState(false);
  const known = findLanguage(language);
  const name = known?.label ?? (language || "Text");
  const file = () => new Blob([text], { type: "application/octet-stream" });
  const save = () => saveFile(`code.${known?.extension ?? "txt"}`, file());
  return (
    <div className="min-w-0 overflow-hidden rounded-lg border bg-muted/50">
      <div className="flex h-8 items-center gap-0.5 border-b pr-1 pl-3 text-xs text-muted-foreground">
        <span className="min-w-0 flex-1 truncate">{name}</span>
        <IconButton
          icon={WrapText}
          label="Wrap lines"
          aria-pressed={isWrapped}
          className={cn("size-6", isWrapped && "bg-hover text-foreground")}
          onClick={() => setWrapped(!isWrapped)}
        />
        <IconButton icon={Download} label="Download code" className="size-6" onClick={save} />
        <CopyButton
          text={text}
          label="Copy code"
          variant="ghost"
          className={cn(iconButtonStyle, "size-6")}
        />
      </div>
      <Code
        text={text}
        language={language}
        label={language === "" ? "Code" : `Code, ${name}`}
        isWrapped={isWrapped}
        isGrowing={isGrowing}
        className="max-h-[32rem]"
      />
    </div>
  );
}

/** Preformatted text in a scrollable box, highlighted if the language is known. */
export function Code({
  text,
  label,
  language = "",
  isWrapped = false,
  isGrowing = false,
  className = "",
}: {
  readonly text: string;
  readonly label: string;
  readonly language?: string;
  readonly isWrapped?: boolean;
  readonly isGrowing?: boolean;
  readonly className?: string;
}) {
  const box = useFollowedEnd(text, isGrowing);
  const lines = useHighlightedLines(text, language, isGrowing);
  return (
    <ScrollBox ref={box} label={label} isLandmark={false} className={cn("rounded-none", className)}>
      <pre
        className={cn(
          "px-3 py-2.5 font-mono text-[0.8125rem] leading-normal",
          isWrapped
            ? "whitespace-pre-wrap [overflow-wrap:anywhere]"
            : "w-fit min-w-full whitespace-pre",
        )}
      >
        <CodeLines text={text} lines={lines} />
      </pre>
    </ScrollBox>
  );
}

const NEAR_END_PX = 24;

/** Keeps the end of a growing text in view until the reader scrolls away from it. */
function useFollowedEnd(text: string, isGrowing: boolean): RefObject<HTMLElement | null> {
  const box = useRef<HTMLElement>(null);
  const follows = useRef(true);
  useLayoutEffect(() => {
    const element = box.current;
    if (!isGrowing || element === null) return;
    const onScroll = () => {
      const left = element.scrollHeight - element.clientHeight - element.scrollTop;
      follows.current = left < NEAR_END_PX;
    };
    element.addEventListener("scroll", onScroll, { passive: true });
    return () => element.removeEventListener("scroll", onScroll);
  }, [isGrowing]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it scrolls for every text
  useLayoutEffect(() => {
    if (isGrowing && follows.current) box.current?.scrollTo({ top: box.current.scrollHeight });
  }, [text, isGrowing]);
  return box;
}
