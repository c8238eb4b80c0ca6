import { CodeLines } from "../../_code/code-lines.tsx";
import type { CodeLine } from "../../_code/languages.ts";
import { createTokenizer } from "../../_code/tokenize.ts";
import { cn } from "../../_ui/class-names.ts";
import { CopyButton } from "../../_ui/copy-button.tsx";
import { ScrollBox } from "../../_ui/scroll-box.tsx";

/** Code of the documentation, highlighted on the server. */
export async function DocsCode({
  text,
  language,
  label = "Code",
  isWrapped = false,
}: {
  readonly text: string;
  readonly language: string;
  readonly label?: string;
  readonly isWrapped?: boolean;
}) {
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

async function tokenize(text: string, language: string): Promise<readonly CodeLine[]> {
  return (await createTokenizer(language))?.next(text) ?? [];
}
