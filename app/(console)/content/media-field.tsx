"use client";
import { Images } from "lucide-react";
import dynamic from "next/dynamic";
import { useState } from "react";
import type { ApiError } from "@/app/(console)/_hooks/api.ts";
import { type ContentMedia, mediaAddress } from "@/app/(console)/content/content-result.ts";
import { useFrame } from "../_shell/frame.tsx";
import { Button } from "../_ui/button.tsx";
import { Input } from "../_ui/input.tsx";
import { ContentField } from "./content-field.tsx";
import { MediaThumbnail } from "./result-thumbnail.tsx";

const ResultPicker = dynamic(() =>
  import("./result-picker.tsx").then((module) => module.ResultPicker),
);

/** A file of the request: by its URL, or one of the account's earlier results; a video can be its sound. */
export function MediaField({
  name,
  label,
  kind,
  hint,
  fault,
  value,
  onChange,
}: {
  readonly name: string;
  readonly label: string;
  readonly kind: ContentMedia["kind"] | "audio";
  readonly hint?: string | undefined;
  readonly fault: ApiError | null;
  readonly value: string;
  readonly onChange: (url: string) => void;
}) {
  const [isPicking, setIsPicking] = useState(false);
  const shownKind = kind === "image" ? "image" : "video";
  // What is elsewhere on the web cannot be: the page loads nothing from there.
  const isShown = mediaAddress(value, useFrame().mediaOrigin) !== null;
  return (
    <ContentField name={name} label={label} fault={fault} hint={hint}>
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
            onChange={(event) => onChange(event.target.value)}
            className="min-w-0 flex-1"
          />
          <Button
            variant="outline"
            size="icon"
            className="size-9"
            aria-label={`${label}: choose from your results`}
            title="Choose from your results"
            onClick={() => setIsPicking(true)}
          >
            <Images aria-hidden />
          </Button>
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
    </ContentField>
  );
}
