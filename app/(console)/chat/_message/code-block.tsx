import { startTransition, useEffect, useLayoutEffect, useRef, useState } from "react";
import { CodeLines } from "../../_code/code-lines.tsx";
import type { Highlighting } from "../../_code/highlighter.ts";
import { type CodeLine, findLanguage } from "../../_code/languages.ts";
import { loadModule } from "../../_load/load-module.ts";
import { IconButton, iconButtonStyle } from "../../_ui/button.tsx";
import { cn } from "../../_ui/class-names.ts";
import { CopyButton } from "../../_ui/copy-button.tsx";
import { Download, WrapText } from "../../_ui/icons.tsx";
import { saveFile } from "../../_ui/save-file.ts";
import { ScrollBox } from "../../_ui/scroll-box.tsx";

interface CodeBlockProps {
  readonly text: string;
  /** The name after the Markdown fence; empty without one. */
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
        {...{ text, language, isWrapped, isGrowing }}
        label={language === "" ? "Code" : `Code, ${name}`}
        className="max-h-[32rem]"
      />
    </div>
  );
}

/** The end of a growing text stays in view until the reader scrolls farther away from it. */
const NEAR_END_PX = 24;

interface CodeProps extends Partial<CodeBlockProps> {
  readonly text: string;
  readonly label: string;
  readonly isWrapped?: boolean;
  readonly className?: string;
}

/** Preformatted text in a scrollable box, highlighted if the language is known. */
export function Code(props: CodeProps) {
  const { text, label, language = "", isWrapped = false, isGrowing = false, className } = props;
  const box = useRef<HTMLElement>(null);
  const followsEnd = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it scrolls for every text
  useLayoutEffect(() => {
    if (isGrowing && followsEnd.current) box.current?.scrollTo({ top: box.current.scrollHeight });
  }, [text, isGrowing]);
  const lines = useHighlightedLines(text, language, isGrowing);
  return (
    <ScrollBox
      ref={box}
      label={label}
      isLandmark={false}
      className={cn("rounded-none", className)}
      onScroll={({ currentTarget: { scrollHeight, clientHeight, scrollTop } }) => {
        followsEnd.current = scrollHeight - clientHeight - scrollTop < NEAR_END_PX;
      }}
    >
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

/** Longer texts stay plain: the many elements would slow the page down. */
const MAX_LENGTH = 100_000;

const none: readonly CodeLine[] = [];

/**
 * Returns the pieces of the first lines of a text, as far as they are known: none at first, more as the
 * worker answers. The last line of a growing text is left out until it is complete. Lines may be outdated
 * for a moment after the text was replaced: compare them with the text.
 */
function useHighlightedLines(text: string, language: string, isGrowing: boolean) {
  const [lines, setLines] = useState(none);
  const [highlighting, setHighlighting] = useState<Highlighting | null>(null);
  const isKnown = text.length <= MAX_LENGTH && findLanguage(language) !== undefined;
  useEffect(() => {
    if (!isKnown) return;
    const left = new AbortController();
    let started: Highlighting | null = null;
    loadModule(() => import("../../_code/highlighter.ts")).then(
      (module) => {
        if (left.signal.aborted) return;
        const show = (known: readonly CodeLine[]) => startTransition(() => setLines(known));
        started = new module.Highlighting(language, show);
        setHighlighting(started);
      },
      // The text stays plain.
      () => {},
    );
    return () => {
      left.abort();
      started?.close();
      setHighlighting(null);
      setLines(none);
    };
  }, [language, isKnown]);
  useEffect(() => {
    const completeLines = isGrowing ? text.slice(0, text.lastIndexOf("\n") + 1) : `${text}\n`;
    highlighting?.update(completeLines);
  }, [text, isGrowing, highlighting]);
  return lines;
}
