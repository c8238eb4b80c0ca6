"use client";
import { Images } from "lucide-react";
import { useState } from "react";
import { lazyComponent } from "../_load/lazy-component.tsx";
import { useFrame } from "../_shell/frame.tsx";
import { IconButton } from "../_ui/button.tsx";
import { Field, Input } from "../_ui/form.tsx";
import { type ContentMedia, mediaAddress } from "./content-result.ts";
import { MediaThumbnail } from "./result-tile.tsx";

const ResultPicker = lazyComponent(() => import("./result-picker.tsx"), "ResultPicker");

const INVALID_TEXTS = {
  image: "Choose an image, or enter the public https URL of one.",
  video: "Choose a video of at most 8 seconds, or enter the public https URL of one.",
  audio:
    "Choose a video with sound, or enter the public https URL of an audio file of at most 60 seconds.",
} as const;

/** A file of the request: its URL, or one of the account's earlier results. A video can provide audio. */
export function MediaField({
  label,
  kind,
  hint,
  isInvalid,
  value,
  onChange,
}: {
  readonly label: string;
  readonly kind: ContentMedia["kind"] | "audio";
  readonly hint?: string | undefined;
  /** Whether the API refused the value. */
  readonly isInvalid: boolean;
  readonly value: string;
  readonly onChange: (url: string) => void;
}) {
  const [isPicking, setIsPicking] = useState(false);
  const shownKind = kind === "image" ? "image" : "video";
  // The page cannot load previews from elsewhere on the web.
  const isShown = mediaAddress(value, useFrame().mediaOrigin) !== null;
  return (
    <Field label={label} hint={hint} error={isInvalid ? INVALID_TEXTS[kind] : undefined}>
      {(ids) => (
        <div className="flex items-center gap-2">
          {isShown && (
            <span className="relative block size-9 shrink-0 overflow-hidden rounded-md border">
              <MediaThumbnail media={{ kind: shownKind, url: value }} />
            </span>
          )}
          <Input
            {...ids}
            type="url"
            inputMode="url"
            placeholder="https://"
            value={value}
            onChange={onChange}
            className="min-w-0 flex-1"
          />
          <IconButton
            icon={Images}
            isLarge
            label={`${label}: choose from your results`}
            variant="outline"
            className="size-9"
            title="Choose from your results"
            onClick={() => setIsPicking(true)}
          />
          {isPicking && (
            <ResultPicker
              kind={shownKind}
              onPick={(url) => {
                onChange(url);
                setIsPicking(false);
              }}
              onClose={() => setIsPicking(false)}
            />
          )}
        </div>
      )}
    </Field>
  );
}
