import { useState } from "react";
import { lazyComponent } from "../_load/lazy-component.tsx";
import { useFrame } from "../_shell/frame.tsx";
import { IconButton } from "../_ui/button.tsx";
import { Field, Input } from "../_ui/form.tsx";
import { Images, Upload } from "../_ui/icons.tsx";
import { UploadButton } from "../_ui/upload-button.tsx";
import { uploadMedia } from "../chat/_state/upload-file.ts";
import { type ContentMedia, mediaAddress } from "./content-result.ts";
import { MediaThumbnail } from "./result-tile.tsx";

const ResultPicker = lazyComponent(() => import("./result-picker.tsx"), "ResultPicker");

/** The texts for values that the API refuses. */
export const MEDIA_TEXTS = {
  image: "Choose an image, or enter the public https URL of one.",
  video: "Choose a video of at most 8 seconds, or enter the public https URL of one.",
  audio:
    "Choose a video with sound, or an audio file of at most 60 seconds (30 above 720p), or enter the public https URL of one.",
} as const;

interface MediaFieldProps {
  readonly label: string;
  readonly kind: ContentMedia["kind"] | "audio";
  readonly hint?: string | undefined;
  /** The text if the API refused the value: one of `MEDIA_TEXTS`. */
  readonly error: string | undefined;
  readonly value: string;
  readonly onChange: (url: string) => void;
}

/**
 * A file by its URL: one of the web, an earlier result of the account, or one of this computer, which is
 * chosen, dropped or pasted. A video can provide audio.
 */
export function MediaField({ label, kind, hint, error, value, onChange }: MediaFieldProps) {
  const [isPicking, setIsPicking] = useState(false);
  const [isUploading, setIsUploading] = useState(false);
  const [failure, setFailure] = useState<string>();
  const shownKind = kind === "image" ? "image" : "video";
  // The page cannot load previews from elsewhere on the web.
  const isShown = mediaAddress(value, useFrame().mediaOrigin) !== null;
  const change = (url: string) => {
    setFailure(undefined);
    onChange(url);
  };
  /** Returns whether there is a file to upload. */
  const take = (file: File | undefined): boolean => {
    if (file === undefined || isUploading) return false;
    setIsUploading(true);
    void uploadMedia(file).then((result) => {
      setIsUploading(false);
      if ("url" in result) change(result.url);
      else setFailure(result.failure);
    });
    return true;
  };
  return (
    <Field label={label} hint={isUploading ? "Uploading…" : hint} error={failure ?? error}>
      {(ids) => (
        // biome-ignore lint/a11y/noStaticElementInteractions: the button beside it opens the same file
        <div
          className="flex items-center gap-2"
          onDragOver={(event) => event.preventDefault()}
          onDrop={(event) => {
            event.preventDefault();
            take(event.dataTransfer.files[0]);
          }}
          onPaste={(event) => {
            if (take(event.clipboardData.files[0])) event.preventDefault();
          }}
        >
          {isShown && kind !== "audio" && (
            <span className="relative block size-9 shrink-0 overflow-hidden rounded-md border">
              <MediaThumbnail media={{ kind: shownKind, url: value }} />
            </span>
          )}
          <Input
            {...ids}
            type="url"
            inputMode="url"
            placeholder="https://"
            maxLength={2048}
            autoComplete="off"
            value={value}
            onChange={change}
            className="min-w-0 flex-1"
          />
          <UploadButton
            icon={Upload}
            busy={isUploading}
            aria-label={`${label}: upload`}
            variant="outline"
            size="icon"
            className="size-9"
            title="Upload"
            accept={kind === "audio" ? "audio/*,video/*" : `${kind}/*`}
            onFiles={([file]) => take(file)}
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
                change(url);
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
