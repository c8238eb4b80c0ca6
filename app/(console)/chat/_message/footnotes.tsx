"use client";
import { CornerLeftUp } from "lucide-react";
import { createContext, type ReactNode, useContext, useId, useMemo } from "react";
import type { FootnoteToken, MarkdownToken } from "../../_markdown/extensions.ts";
import { type MarkdownParts, renderInline } from "../../_markdown/render.tsx";

interface Notes {
  readonly id: string;
  readonly labels: readonly string[];
  readonly notes: ReadonlyMap<string, FootnoteToken>;
}

const NotesContext = createContext<Notes>({ id: "", labels: [], notes: new Map() });

const REFERENCE = /\[\^([^\]\s]{1,64})\](?!:)/g;

interface FootnotesProviderProps {
  readonly text: string;
  readonly tokens: readonly MarkdownToken[];
  readonly isStreaming: boolean;
  readonly children: ReactNode;
}

/** Numbers the footnotes of a text. While it streams, references come before their notes. */
export function FootnotesProvider({ text, tokens, isStreaming, children }: FootnotesProviderProps) {
  const id = useId();
  const found = tokens.filter((token) => token.type === "footnote");
  const references = text.includes("[^") ? [...text.matchAll(REFERENCE)] : [];
  const labels = [...new Set(references.map(([, label = ""]) => label))].filter(
    (label) => isStreaming || found.some((note) => note.label === label),
  );
  // References are rendered again only when a number or a note has changed.
  const state = JSON.stringify([labels, found.map(({ raw }) => raw)]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the state says all that matters
  const value = useMemo(
    () => ({ id, labels, notes: new Map(found.map((note) => [note.label, note])) }),
    [id, state],
  );
  return <NotesContext value={value}>{children}</NotesContext>;
}

export function FootnoteReference({ label }: { readonly label: string }) {
  const { id, labels, notes } = useContext(NotesContext);
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
export function Footnotes({ parts }: { readonly parts: MarkdownParts }) {
  const { id, labels, notes } = useContext(NotesContext);
  if (notes.size === 0) return null;
  return (
    <section aria-label="Footnotes" className="mt-1 border-t pt-3 text-sm text-muted-foreground">
      <ol className="flex list-decimal flex-col gap-1 pl-5">
        {labels.map((label, index) => {
          const note = notes.get(label);
          return (
            note !== undefined && (
              <li
                key={label}
                id={`${id}-${index + 1}`}
                value={index + 1}
                tabIndex={-1}
                className="scroll-mt-4 rounded-sm pl-0.5 target:text-foreground"
              >
                {renderInline(note.tokens, parts)}{" "}
                <button
                  type="button"
                  aria-label={`Back to the reference of footnote ${index + 1}`}
                  onClick={(event) => focusReference(event.currentTarget, index + 1)}
                  className="inline-grid size-6 place-items-center rounded-sm align-middle hover:bg-hover"
                >
                  <CornerLeftUp aria-hidden className="size-3.5" />
                </button>
              </li>
            )
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
