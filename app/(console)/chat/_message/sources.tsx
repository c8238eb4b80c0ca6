import type { UIMessage } from "ai";
import { webAddress } from "../../_markdown/parse.ts";

/** The pages that the agent has found for an answer by searching the web. */
export function Sources({ parts }: { readonly parts: UIMessage["parts"] }) {
  const titles = new Map<string, string>();
  for (const part of parts) {
    const address = part.type === "source-url" ? webAddress(part.url) : null;
    if (part.type === "source-url" && address !== null) titles.set(address, part.title ?? address);
  }
  return (
    <details className="text-sm">
      <summary className="w-fit cursor-pointer text-muted-foreground">
        Sources ({titles.size})
      </summary>
      <ol aria-label="Sources" className="mt-1 list-decimal pl-5 wrap-anywhere">
        {[...titles].map(([address, title]) => (
          <li key={address}>
            <a
              href={address}
              target="_blank"
              rel="noopener noreferrer nofollow"
              className="text-accent-text hover:underline"
            >
              {title}
            </a>{" "}
            <span className="text-muted-foreground">{new URL(address).hostname}</span>
          </li>
        ))}
      </ol>
    </details>
  );
}
