"use client";
import { Check } from "lucide-react";
import type { MarkedToken, Tokens } from "marked";
import { createElement, Fragment, memo, type ReactNode, useMemo } from "react";
import {
  decodeReferences,
  parseMarkdown,
  webAddress,
} from "@/app/(console)/chat/_message/markdown-tokens.ts";
import { cn } from "../../_ui/class-names.ts";
import { ScrollBox } from "../../_ui/scroll-box.tsx";
import { CodeBlock } from "./code-block.tsx";
import { keyed } from "./keyed.ts";

/** Renders Markdown. While it streams, only the last blocks are rendered again. */
export const Markdown = memo(function Markdown({
  text,
  isStreaming = false,
}: {
  readonly text: string;
  readonly isStreaming?: boolean;
}) {
  const blocks = useMemo(() => parseMarkdown(text, isStreaming), [text, isStreaming]);
  return (
    <div className="flex min-w-0 flex-col gap-3 leading-relaxed [overflow-wrap:anywhere]">
      {keyed(blocks.filter((token) => token.type !== "space" && token.type !== "def")).map(
        ({ key, item }) => (
          <Block key={key} token={item} isStreaming={isStreaming} />
        ),
      )}
    </div>
  );
});

const Block = memo(
  function Block({ token }: { readonly token: MarkedToken; readonly isStreaming: boolean }) {
    return block(token);
  },
  // A link definition at the end can change links above it, so all blocks are rendered once more when streaming ends.
  (before, after) =>
    before.token.raw === after.token.raw &&
    before.token.type === after.token.type &&
    before.isStreaming === after.isStreaming,
);

const headings = ["text-lg", "text-lg", "text-base", "text-base", "text-base", "text-base"];

function block(token: MarkedToken): ReactNode {
  switch (token.type) {
    case "heading":
      // The page has its own h1 and h2.
      return createElement(
        `h${Math.min(6, token.depth + 2)}`,
        { className: cn("mt-2 font-semibold first:mt-0", headings[token.depth - 1]) },
        inline(token.tokens),
      );
    case "paragraph":
      return <p>{inline(token.tokens)}</p>;
    case "text":
      return token.tokens ? inline(token.tokens) : decodeReferences(token.text);
    case "code":
      return <CodeBlock text={token.text} language={languageOf(token)} />;
    case "blockquote":
      return (
        <blockquote className="flex flex-col gap-2 border-l-2 border-input pl-3 text-muted-foreground">
          {blocks(token.tokens)}
        </blockquote>
      );
    case "list":
      return <List token={token} />;
    case "table":
      return <Table token={token} />;
    case "hr":
      return <hr className="my-1" />;
    case "html":
      return <p className="whitespace-pre-wrap">{token.raw.trim()}</p>;
    case "space":
    case "def":
      return null;
    default:
      return inline([token]);
  }
}

const blocks = (tokens: readonly unknown[]): ReactNode =>
  keyed(tokens as readonly MarkedToken[]).map(({ key, item }) => (
    <Fragment key={key}>{block(item)}</Fragment>
  ));

const languageOf = ({ lang }: Tokens.Code): string => (lang ?? "").split(/\s/, 1)[0] ?? "";

function List({ token }: { readonly token: Tokens.List }) {
  const items = keyed(token.items).map(({ key, item }) => (
    <li key={key} className={cn("pl-0.5 [&>p+*]:mt-2", item.task && "-ml-5 flex list-none gap-2")}>
      {item.task && <Checkbox done={item.checked === true} />}
      {item.task ? <span>{blocks(withoutCheckbox(item))}</span> : blocks(item.tokens)}
    </li>
  ));
  const style = "flex flex-col gap-1 pl-5 marker:text-muted-foreground";
  if (!token.ordered) return <ul className={cn(style, "list-disc")}>{items}</ul>;
  return (
    <ol start={Number(token.start) || 1} className={cn(style, "list-decimal")}>
      {items}
    </ol>
  );
}

const withoutCheckbox = (item: Tokens.ListItem) =>
  item.tokens.filter((token) => token.type !== "checkbox");

function Checkbox({ done }: { readonly done: boolean }) {
  return (
    <span
      role="img"
      aria-label={done ? "Done:" : "To do:"}
      className={cn(
        "mt-1 grid size-3.5 shrink-0 place-items-center rounded-sm border border-input",
        done && "border-accent bg-accent text-accent-foreground",
      )}
    >
      {done && <Check aria-hidden className="size-3" />}
    </span>
  );
}

function Table({ token }: { readonly token: Tokens.Table }) {
  const cell = (align: Tokens.TableCell["align"]) =>
    cn(
      "px-3 py-1.5 align-top",
      align === "right" && "text-right",
      align === "center" && "text-center",
    );
  return (
    <ScrollBox label="Table" className="border">
      <table className="w-full border-collapse text-left [overflow-wrap:normal]">
        <thead className="bg-muted/60">
          <tr>
            {keyed(token.header).map(({ key, item }) => (
              <th key={key} scope="col" className={cn(cell(item.align), "font-medium")}>
                {inline(item.tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {keyed(token.rows).map(({ key, item: row }) => (
            <tr key={key} className="border-t">
              {keyed(row).map(({ key: column, item }) => (
                <td key={column} className={cell(item.align)}>
                  {inline(item.tokens)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollBox>
  );
}

function inline(tokens: readonly unknown[]): ReactNode {
  return keyed(tokens as readonly MarkedToken[]).map(({ key, item }) => (
    <Fragment key={key}>{span(item)}</Fragment>
  ));
}

function span(token: MarkedToken): ReactNode {
  switch (token.type) {
    case "text":
      return token.tokens ? inline(token.tokens) : decodeReferences(token.text);
    case "escape":
      return decodeReferences(token.text);
    case "strong":
      return <strong className="font-semibold">{inline(token.tokens)}</strong>;
    case "em":
      return <em>{inline(token.tokens)}</em>;
    case "del":
      return <del>{inline(token.tokens)}</del>;
    case "codespan":
      return (
        <code className="rounded bg-muted px-1 py-0.5 font-mono text-[0.92em]">{token.text}</code>
      );
    case "br":
      return <br />;
    case "link":
      return (
        <WebLink href={token.href}>{token.autolink ? token.text : inline(token.tokens)}</WebLink>
      );
    case "image":
      // The page loads nothing from other origins, so an image becomes a link to it.
      return (
        <WebLink
          href={token.href}
        >{`[image: ${decodeReferences(token.text) || token.href}]`}</WebLink>
      );
    default:
      return token.raw;
  }
}

function WebLink({ href, children }: { readonly href: string; readonly children: ReactNode }) {
  const address = webAddress(href);
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
