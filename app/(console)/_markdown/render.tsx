/**
 * Renders Markdown tokens as elements, on the server and in the browser. `parts` holds the elements
 * that differ between answers of a model and the documentation.
 */

import { concealedHost } from "@platform/kit/shown-links";
import type { MarkedToken, Tokens } from "marked";
import { Fragment, memo, type ReactNode } from "react";
import { cn } from "../_ui/class-names.ts";
import { Check } from "../_ui/icons.tsx";
import { keyed } from "../_ui/keyed.ts";
import { ScrollBox } from "../_ui/scroll-box.tsx";
import type { FormulaToken, MarkdownToken } from "./extensions.ts";
import { decodeReferences, textOf, webAddress } from "./parse.ts";

export interface MarkdownParts {
  heading(token: Tokens.Heading, children: ReactNode): ReactNode;
  code(text: string, language: string): ReactNode;
  formula(token: FormulaToken): ReactNode;
  image(address: string, label: string): ReactNode;
  link(address: string, children: ReactNode): ReactNode;
  footnoteReference(label: string): ReactNode;
}

/** Deeper blocks are shown as they are written. */
const MAX_DEPTH = 16;

export function renderBlock(token: MarkdownToken, parts: MarkdownParts, depth = 0): ReactNode {
  if (depth > MAX_DEPTH) return token.raw;
  const inside = (tokens: readonly unknown[]) => renderBlocks(tokens, parts, depth + 1);
  switch (token.type) {
    case "heading":
      return parts.heading(token, renderInline(token.tokens, parts));
    case "paragraph":
      return <p>{renderInline(token.tokens, parts)}</p>;
    case "code":
      return parts.code(token.text, (token.lang ?? "").split(/\s/, 1)[0] ?? "");
    case "blockquote":
      return (
        <blockquote className="flex flex-col gap-2 border-l-2 border-input pl-3 text-muted-foreground">
          {inside(token.tokens)}
        </blockquote>
      );
    case "list":
      return <List token={token} parts={parts} depth={depth + 1} />;
    case "table":
      return <Table token={token} parts={parts} />;
    case "hr":
      return <hr className="my-1" />;
    case "html":
      return <p className="whitespace-pre-wrap">{token.raw.trim()}</p>;
    case "space":
    case "def":
    case "footnote":
      return null;
    default:
      return renderInline([token], parts);
  }
}

const renderBlocks = (tokens: readonly unknown[], parts: MarkdownParts, depth: number): ReactNode =>
  keyed(tokens as readonly MarkdownToken[]).map(({ key, item }) => (
    <Fragment key={key}>{renderBlock(item, parts, depth)}</Fragment>
  ));

type ListProps = Readonly<{ token: Tokens.List; parts: MarkdownParts; depth: number }>;

function List({ token, parts, depth }: ListProps) {
  const items = keyed(token.items).map(({ key, item }) => (
    <Item key={key} item={item} parts={parts} depth={depth} />
  ));
  const style = "flex flex-col gap-1 pl-5 marker:text-muted-foreground";
  if (!token.ordered) return <ul className={cn(style, "list-disc")}>{items}</ul>;
  return (
    <ol start={Number(token.start) || 1} className={cn(style, "list-decimal")}>
      {items}
    </ol>
  );
}

type ItemProps = Omit<ListProps, "token"> & { readonly item: Tokens.ListItem };

/** Memoized, because a long list is rendered again for every item that is streamed. */
const Item = memo(
  function Item({ item, parts, depth }: ItemProps) {
    const blocks = item.tokens.filter(({ type }) => type !== "checkbox");
    const content = renderBlocks(blocks, parts, depth);
    return (
      <li className={cn("pl-0.5 [&>p+*]:mt-2", item.task && "-ml-5 flex list-none gap-2")}>
        {item.task && <Checkbox done={item.checked === true} />}
        {item.task ? <div className="min-w-0 flex-1">{content}</div> : content}
      </li>
    );
  },
  (before, after) => before.item.raw === after.item.raw && before.parts === after.parts,
);

const Checkbox = ({ done }: { readonly done: boolean }) => (
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

const Table = ({
  token,
  parts,
}: {
  readonly token: Tokens.Table;
  readonly parts: MarkdownParts;
}) => (
  <ScrollBox label="Table" isLandmark={false} className="border">
    <table className="w-full border-collapse text-left [overflow-wrap:normal]">
      <thead className="bg-muted/60">
        <tr>
          {keyed(token.header).map(({ key, item }) => (
            <th key={key} scope="col" className={cn(cellStyle(item), "font-medium")}>
              {renderInline(item.tokens, parts)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {keyed(token.rows).map(({ key, item }) => (
          <Row key={key} cells={item} parts={parts} />
        ))}
      </tbody>
    </table>
  </ScrollBox>
);

type RowProps = Readonly<{ cells: readonly Tokens.TableCell[]; parts: MarkdownParts }>;

/** Memoized, because a long table is rendered again for every cell that is streamed. */
const Row = memo(
  function Row({ cells, parts }: RowProps) {
    return (
      <tr className="border-t">
        {keyed(cells).map(({ key, item }) => (
          <td key={key} className={cellStyle(item)}>
            {renderInline(item.tokens, parts)}
          </td>
        ))}
      </tr>
    );
  },
  (before, after) =>
    before.parts === after.parts &&
    before.cells.length === after.cells.length &&
    before.cells.every((cell, index) => {
      const other = after.cells[index];
      return cell.text === other?.text && cell.align === other.align;
    }),
);

const cellStyle = ({ align }: Tokens.TableCell) =>
  cn(
    "px-3 py-1.5 align-top tabular-nums",
    align === "right" && "text-right",
    align === "center" && "text-center",
  );

export const renderInline = (tokens: readonly unknown[], parts: MarkdownParts): ReactNode =>
  keyed(tokens as readonly MarkdownToken[]).map(({ key, item }) => (
    <Fragment key={key}>{renderSpan(item, parts)}</Fragment>
  ));

function renderSpan(token: MarkdownToken, parts: MarkdownParts): ReactNode {
  switch (token.type) {
    case "text":
      return token.tokens ? renderInline(token.tokens, parts) : decodeReferences(token.text);
    case "escape":
      return decodeReferences(token.text);
    case "strong":
      return <strong className="font-semibold">{renderInline(token.tokens, parts)}</strong>;
    case "em":
      return <em>{renderInline(token.tokens, parts)}</em>;
    case "del":
      return <del>{renderInline(token.tokens, parts)}</del>;
    case "codespan":
      return (
        <code className="rounded bg-muted px-1 py-0.5 font-mono text-[0.92em]">{token.text}</code>
      );
    case "br":
      return <br />;
    case "link":
      return renderLink(token, parts);
    case "image":
      return parts.image(token.href, decodeReferences(token.text));
    case "formula":
      return parts.formula(token);
    case "footnoteReference":
      return parts.footnoteReference(token.label);
    default:
      return (token as MarkedToken).raw;
  }
}

/**
 * An image with a control of the console is rendered after the link. Inside it, a click on the
 * control would also open the address, which an untrusted author has chosen.
 */
function renderLink({ href, text, tokens, autolink }: Tokens.Link, parts: MarkdownParts) {
  const after: MarkdownToken[] = [];
  const inLink: MarkdownParts = {
    ...parts,
    formula: (token) => parts.formula({ ...token, isDisplay: false }),
    image: (_, label) => label || "Image",
    link: (_, children) => children,
    footnoteReference: () => null,
  };
  const collect = (inside: readonly MarkdownToken[]) => {
    for (const token of inside) {
      if (token.type === "image" || token.type === "footnoteReference") after.push(token);
      else if ("tokens" in token) collect((token.tokens ?? []) as MarkdownToken[]);
    }
  };
  collect(tokens as MarkdownToken[]);
  const address = webAddress(href);
  const host = address && concealedHost(autolink ? text : textOf(tokens), address);
  return (
    <>
      {parts.link(
        href,
        <>
          {autolink ? text : renderInline(tokens, inLink)}
          {host && ` (${host})`}
        </>,
      )}
      {renderInline(after, parts)}
    </>
  );
}
