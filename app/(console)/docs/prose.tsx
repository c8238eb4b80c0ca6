import { CodeLines } from "../_code/code-lines.tsx";
import type { CodeLine } from "../_code/languages.ts";
import { createTokenizer } from "../_code/tokenize.ts";
import { cn } from "../_ui/class-names.ts";
import { CopyButton } from "../_ui/copy-button.tsx";
import { ArrowLeft, ArrowRight } from "../_ui/icons.tsx";
import { Link } from "../_ui/link.tsx";
import { ScrollBox } from "../_ui/scroll-box.tsx";

/** A sentence of the document, with code between backticks. */
export const Prose = ({ text }: { readonly text: string }) =>
  text.split("`").map((piece, index) =>
    index % 2 === 0 ? (
      piece
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the text never changes
      <code key={index} className="font-mono text-[0.9em] break-words text-foreground">
        {piece}
      </code>
    ),
  );

/** Reading is quiet, deleting is a warning, and everything else writes. */
const styles: Readonly<Record<string, string>> = {
  GET: "text-muted-foreground",
  DELETE: "text-danger-text",
};

type MethodLabelProps = Readonly<{ method: string; className?: string }>;

export const MethodLabel = ({ method, className }: MethodLabelProps) => (
  <span
    className={cn(
      "shrink-0 font-mono text-xs font-semibold",
      styles[method] ?? "text-accent-text",
      className,
    )}
  >
    {method}
  </span>
);

export type PageLink = Readonly<{ href: string; title: string }>;

type PageLinksProps = Readonly<{ links: readonly PageLink[]; place: number }>;

/** Leads to the pages before and after the one at a place. */
export function PageLinks({ links, place }: PageLinksProps) {
  const [before, after] = [links[place - 1], links[place + 1]];
  return (
    <nav aria-label="Neighboring pages" className="mt-12 grid gap-3 sm:grid-cols-2">
      {before === undefined ? <span /> : <Neighbor link={before} label="Previous" />}
      {after !== undefined && <Neighbor link={after} label="Next" />}
    </nav>
  );
}

function Neighbor({ link, label }: { readonly link: PageLink; readonly label: string }) {
  const isNext = label === "Next";
  const Arrow = isNext ? ArrowRight : ArrowLeft;
  return (
    <Link
      href={link.href}
      className={cn(
        "flex min-w-0 items-center gap-3 rounded-lg border px-4 py-3 hover:bg-muted",
        isNext && "flex-row-reverse text-right",
      )}
    >
      <Arrow aria-hidden className="size-4 shrink-0" />
      <span className="min-w-0">
        <span className="block text-xs text-muted-foreground">{label}</span>
        <span className="block truncate font-medium">{link.title}</span>
      </span>
    </Link>
  );
}

/** Code of the documentation, highlighted on the server. */
export async function DocsCode(props: {
  readonly text: string;
  readonly language: string;
  readonly label?: string;
  readonly isWrapped?: boolean;
}) {
  const { text, language, label = "Code", isWrapped = false } = props;
  return (
    <div className="relative min-w-0 rounded-lg border bg-muted/50">
      <CopyButton
        text={text}
        label={`Copy ${label.toLowerCase()}`}
        variant="ghost"
        className="absolute top-1.5 right-1.5 z-10 size-7 bg-muted [&_svg]:size-3.5"
      />
      <ScrollBox label={label} isLandmark={false} className="max-h-120">
        <pre
          className={cn(
            "py-2.5 pr-11 pl-3 font-mono text-[0.8125rem] leading-normal",
            isWrapped ? "break-all whitespace-pre-wrap" : "w-fit min-w-full whitespace-pre",
          )}
        >
          <CodeLines text={text} lines={await highlight(text, language)} />
        </pre>
      </ScrollBox>
    </div>
  );
}

const highlighted = new Map<string, Promise<readonly CodeLine[]>>();

/** Kept, because documents and examples never change while the server runs. */
function highlight(text: string, language: string): Promise<readonly CodeLine[]> {
  const key = `${language}\n${text}`;
  const known = highlighted.get(key) ?? tokenize(text, language);
  highlighted.set(key, known);
  return known;
}

const tokenize = async (text: string, language: string): Promise<readonly CodeLine[]> =>
  (await createTokenizer(language))?.next(text) ?? [];
