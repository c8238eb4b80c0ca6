import { createContext, memo, type ReactNode, useContext, useId, useMemo, useRef } from "react";
import { lazyComponent } from "../../_load/lazy-component.tsx";
import type { MarkdownToken } from "../../_markdown/extensions.ts";
import { parseMarkdown, parseStreaming, sandboxPath, webAddress } from "../../_markdown/parse.ts";
import { type MarkdownParts, renderBlock, renderInline } from "../../_markdown/render.tsx";
import { IconButton } from "../../_ui/button.tsx";
import { cn } from "../../_ui/class-names.ts";
import { CornerLeftUp } from "../../_ui/icons.tsx";
import { keyed } from "../../_ui/keyed.ts";
import { SandboxLink } from "../_tools/file-link.tsx";
import { CodeBlock } from "./code-block.tsx";
import { Formula } from "./formula.tsx";

const RemoteImage = lazyComponent(() => import("./remote-image.tsx"), "RemoteImage");

type MarkdownProps = Readonly<{ text: string; isStreaming?: boolean }>;

/** Renders Markdown. While it streams, only the last blocks are parsed and rendered again. */
export const Markdown = memo(function Markdown({ text, isStreaming = false }: MarkdownProps) {
  const tokens = useTokens(text, isStreaming);
  const footnotes = useFootnotes(text, tokens, isStreaming);
  const blocks = tokens.filter(({ type }) => !["space", "def", "footnote"].includes(type));
  return (
    <FootnotesContext value={footnotes}>
      <div className="flex min-w-0 flex-col gap-3 leading-relaxed [overflow-wrap:anywhere]">
        {keyed(blocks).map(({ key, item }, index) => {
          const isLast = index === blocks.length - 1;
          const parts = isStreaming ? (isLast ? growing : streaming) : settled;
          return <Block key={key} token={item} parts={parts} />;
        })}
        <FootnoteList {...footnotes} parts={isStreaming ? streaming : settled} />
      </div>
    </FootnotesContext>
  );
});

function useTokens(text: string, isStreaming: boolean): readonly MarkdownToken[] {
  const before = useRef<readonly MarkdownToken[]>([]);
  return useMemo(() => {
    // A link definition at the end can change links above it, so a finished text is parsed again.
    const tokens = isStreaming ? parseStreaming(text, before.current) : parseMarkdown(text);
    before.current = isStreaming ? tokens : [];
    return tokens;
  }, [text, isStreaming]);
}

type BlockProps = Readonly<{ token: MarkdownToken; parts: MarkdownParts }>;

const Block = memo(
  ({ token, parts }: BlockProps) => renderBlock(token, parts),
  (before, after) =>
    before.token.raw === after.token.raw &&
    before.token.type === after.token.type &&
    before.parts === after.parts,
);

const headingStyles = ["text-xl mt-4", "text-lg mt-3", "text-base mt-2"] as const;

/** @param isGrowing whether the block is the last one of a text that streams */
const createParts = (isGrowing: boolean): MarkdownParts => ({
  heading: ({ depth }, children) => {
    // The page has its own h1 and h2.
    const Heading = `h${Math.min(6, depth + 2)}` as "h3";
    const style = headingStyles[depth - 1] ?? "mt-2 text-sm text-muted-foreground";
    return (
      <Heading className={cn("font-semibold tracking-tight first:mt-0", style)}>{children}</Heading>
    );
  },
  code: (text, language) => <CodeBlock text={text} language={language} isGrowing={isGrowing} />,
  // A formula that is cut off is mostly not well-formed, and would change its form with every character.
  formula: ({ text, isDisplay }) => (
    <Formula source={text} isDisplay={isDisplay} isComplete={!(isGrowing && isDisplay)} />
  ),
  image: (address, label) => <RemoteImage url={address} label={label} />,
  link: (address, children) => <AnswerLink href={address}>{children}</AnswerLink>,
  footnoteReference: (label) => <FootnoteReference label={label} />,
});

const growing = createParts(true);
const streaming = createParts(false);
const settled = createParts(false);

function AnswerLink({ href, children }: { readonly href: string; readonly children: ReactNode }) {
  const address = webAddress(href);
  const path = sandboxPath(href);
  if (address === null && path !== null) {
    const place = /#(?:page|sheet|row)=.*/.exec(href)?.[0] ?? "";
    return <SandboxLink path={path + place}>{children}</SandboxLink>;
  }
  if (address === null) return children;
  return (
    <a
      href={address}
      title={address}
      target="_blank"
      rel="noopener noreferrer nofollow"
      className="text-accent-text underline underline-offset-2 hover:no-underline"
    >
      {children}
    </a>
  );
}

type Footnotes = ReturnType<typeof useFootnotes>;

const FootnotesContext = createContext<Footnotes>({ id: "", labels: [], notes: new Map() });

const REFERENCE = /\[\^([^\]\s]{1,64})\](?!:)/g;

/** Numbers the footnotes of a text. While it streams, references come before their notes. */
function useFootnotes(text: string, tokens: readonly MarkdownToken[], isStreaming: boolean) {
  const id = useId();
  const found = tokens.filter((token) => token.type === "footnote");
  const references = text.includes("[^") ? [...text.matchAll(REFERENCE)] : [];
  const labels = [...new Set(references.map(([, label = ""]) => label))].filter(
    (label) => isStreaming || found.some((note) => note.label === label),
  );
  // References are rendered again only when a number or a note has changed.
  const state = JSON.stringify([labels, found.map(({ raw }) => raw)]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the state says all that matters
  return useMemo(
    () => ({ id, labels, notes: new Map(found.map((note) => [note.label, note])) }),
    [id, state],
  );
}

function FootnoteReference({ label }: { readonly label: string }) {
  const { id, labels, notes } = useContext(FootnotesContext);
  const number = labels.indexOf(label) + 1;
  if (number === 0) return `[^${label}]`;
  return (
    <sup className="px-px text-[0.75em] leading-none">
      {notes.has(label) ? (
        <a
          href={`#${id}-${number}`}
          data-footnote={number}
          aria-label={`Footnote ${number}`}
          className="px-0.5 text-accent-text hover:underline"
        >
          {number}
        </a>
      ) : (
        number
      )}
    </sup>
  );
}

/** The notes below the text, each with a way back to its reference. */
function FootnoteList({ id, labels, notes, parts }: Footnotes & { readonly parts: MarkdownParts }) {
  if (notes.size === 0) return null;
  return (
    <section aria-label="Footnotes" className="mt-1 border-t pt-3 text-sm text-muted-foreground">
      <ol className="flex list-decimal flex-col gap-1 pl-5">
        {labels.map((label, index) => {
          const note = notes.get(label);
          if (note === undefined) return null;
          const number = index + 1;
          return (
            <li
              key={label}
              id={`${id}-${number}`}
              value={number}
              tabIndex={-1}
              className="scroll-mt-4 rounded-sm pl-0.5 target:text-foreground"
            >
              {renderInline(note.tokens, parts)}{" "}
              <IconButton
                icon={CornerLeftUp}
                label={`Back to the reference of footnote ${number}`}
                onClick={(event) => focusReference(event.currentTarget, number)}
                className="size-6 align-middle"
              />
            </li>
          );
        })}
      </ol>
    </section>
  );
}

function focusReference(button: HTMLElement, number: number): void {
  const text = button.closest("section")?.parentElement;
  text?.querySelector<HTMLElement>(`[data-footnote="${number}"]`)?.focus();
}
