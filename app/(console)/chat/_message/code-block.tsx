import { Download, WrapText } from "lucide-react";
import {
  type RefObject,
  startTransition,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { CodeLines } from "../../_code/code-lines.tsx";
import type { HighlightedBlock } from "../../_code/highlighter.ts";
import { type CodeLine, findLanguage } from "../../_code/languages.ts";
import { loadModule } from "../../_load/load-module.ts";
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

/** Longer texts stay plain: the many elements would slow the page down. */
const MAX_LENGTH = 100_000;
/** The lines of one portion, so that the pieces appear early and are drawn in short tasks. */
const PORTION_LINES = 200;

const none: readonly CodeLine[] = [];

/**
 * Returns the pieces of the first lines of a text, as far as they are known: none at first, more as the
 * worker answers. The last line of a growing text is left out until it is complete. Lines may be outdated
 * for a moment after the text was replaced: compare them with the text.
 */
function useHighlightedLines(
  text: string,
  language: string,
  isGrowing: boolean,
): readonly CodeLine[] {
  const [lines, setLines] = useState(none);
  const highlighting = useRef<Highlighting | null>(null);
  const isKnown = text.length <= MAX_LENGTH && findLanguage(language) !== undefined;
  useEffect(() => {
    if (!isKnown) return;
    const started = new Highlighting(language, (known) => startTransition(() => setLines(known)));
    highlighting.current = started;
    return () => {
      started.close();
      highlighting.current = null;
      setLines(none);
    };
  }, [language, isKnown]);
  useEffect(() => {
    if (isKnown) highlighting.current?.update(isGrowing ? completeLines(text) : `${text}\n`);
  }, [text, isGrowing, isKnown]);
  return lines;
}

const completeLines = (text: string): string => text.slice(0, text.lastIndexOf("\n") + 1);

class Highlighting {
  readonly #language: string;
  readonly #onLines: (lines: readonly CodeLine[]) => void;
  #block: Promise<HighlightedBlock> | null = null;
  #lines: readonly CodeLine[] = none;
  #sent = "";
  #wanted = "";
  #isBusy = false;
  #isClosed = false;

  constructor(language: string, onLines: (lines: readonly CodeLine[]) => void) {
    this.#language = language;
    this.#onLines = onLines;
  }

  /** @param text complete lines, each with its line feed */
  update(text: string): void {
    this.#wanted = text;
    if (!this.#isBusy) void this.#work();
  }

  close(): void {
    this.#isClosed = true;
    this.#end();
  }

  #end(): void {
    void this.#block?.then((block) => block.close());
    this.#block = null;
    this.#lines = none;
    this.#sent = "";
  }

  async #work(): Promise<void> {
    this.#isBusy = true;
    while (!this.#isClosed && this.#sent !== this.#wanted) {
      if (!this.#wanted.startsWith(this.#sent)) this.#end();
      this.#block ??= openBlock(this.#language);
      const portion = firstLines(this.#wanted.slice(this.#sent.length));
      this.#sent += portion;
      const lines = await this.#block.then((block) => block.next(portion.slice(0, -1)));
      // The worker has given up, or could not be loaded; the rest stays plain.
      if (lines === null || this.#isClosed) return;
      this.#lines = [...this.#lines, ...lines];
      this.#onLines(this.#lines);
    }
    this.#isBusy = false;
  }
}

const openBlock = (language: string): Promise<HighlightedBlock> =>
  loadModule(() => import("../../_code/highlighter.ts")).then(
    (module) => module.openBlock(language),
    () => plainBlock,
  );

const plainBlock: HighlightedBlock = { next: async () => null, close: () => {} };

function firstLines(text: string): string {
  let end = 0;
  for (let count = 0; count < PORTION_LINES; count++) {
    const next = text.indexOf("\n", end);
    if (next < 0) break;
    end = next + 1;
  }
  return text.slice(0, end);
}
