import { visibleName } from "@platform/kit/visible-name";
import { useEffect, useState } from "react";
import { loadImage } from "../../_api/request.ts";
import { sandboxPath, webAddress } from "../../_markdown/parse.ts";
import { useFrame } from "../../_shell/frame.tsx";
import { Image, LoaderCircle } from "../../_ui/icons.tsx";
import { mediaAddress } from "../../content/content-result.ts";
import { SandboxLink } from "../_tools/file-link.tsx";

const shape = "my-1 max-h-96 max-w-full rounded-lg border bg-muted object-contain";

/**
 * An image in an answer. Images of this service are shown. Others are fetched only after a click: a
 * hostile document may have told the model to include the URL, which can carry data of the chat.
 */
export function RemoteImage({ url, label }: { readonly url: string; readonly label: string }) {
  const own = mediaAddress(url, useFrame().mediaOrigin);
  if (own !== null) {
    // biome-ignore lint/performance/noImgElement: an optimizer would change the generated image
    return <img src={own} alt={label} loading="lazy" className={shape} />;
  }
  const address = webAddress(url);
  const path = sandboxPath(url);
  if (address !== null) return <ImageOnRequest key={address} url={address} label={label} />;
  return path === null ? (
    label
  ) : (
    <SandboxLink path={path}>{label || visibleName(path)}</SandboxLink>
  );
}

function ImageOnRequest({ url, label }: { readonly url: string; readonly label: string }) {
  const [state, setState] = useState<"idle" | "loading" | "failed">("idle");
  const [source, setSource] = useState<string | null>(null);
  useEffect(() => () => void (source !== null && URL.revokeObjectURL(source)), [source]);
  const load = async () => {
    setState("loading");
    const loaded = await loadImage(`/api/media/proxy?${new URLSearchParams({ url })}`);
    setSource(loaded);
    setState(loaded === null ? "failed" : "idle");
  };
  if (source !== null) {
    // biome-ignore lint/performance/noImgElement: it is an object URL
    return <img src={source} alt={label} title={url} className={shape} />;
  }
  const { host } = new URL(url);
  return (
    <span className="my-1 inline-flex max-w-full flex-wrap items-center gap-x-3 gap-y-1 rounded-lg border bg-muted/50 px-3 py-2 text-sm">
      <span className="flex min-w-0 items-center gap-2">
        {state === "loading" ? (
          <LoaderCircle aria-hidden className="size-4 shrink-0 animate-spin" />
        ) : (
          <Image aria-hidden className="size-4 shrink-0 text-muted-foreground" />
        )}
        <span className="min-w-0 break-words">{label || "Image"}</span>
      </span>
      <button
        type="button"
        title={url}
        disabled={state === "loading"}
        onClick={() => void load()}
        className="min-h-6 min-w-0 text-left break-all text-accent-text underline underline-offset-2 hover:no-underline"
      >
        {state === "loading" ? "Loading image…" : `Load image from ${host}`}
      </button>
      <span role="status" className="text-danger-text">
        {state === "failed" ? "The image could not be loaded." : ""}
      </span>
    </span>
  );
}
