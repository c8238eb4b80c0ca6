import {
  Captions,
  FastForward,
  Film,
  GalleryHorizontal,
  Palette,
  TextCursorInput,
} from "lucide-react";
import { useId } from "react";
import { VIDEO_MODES, type VideoMode } from "@/lib/content/port.ts";

const modes = {
  prompt: { icon: TextCursorInput, name: "Prompt", text: "Start from an image and a prompt" },
  animate: { icon: Film, name: "Animate", text: "Bring a still image to life" },
  reference: { icon: Palette, name: "Reference", text: "Use an image as the style or subject" },
  extend: { icon: FastForward, name: "Extend", text: "Continue a video" },
  "first-last": {
    icon: GalleryHorizontal,
    name: "First and last",
    text: "Move from one image to another",
  },
  lipsync: { icon: Captions, name: "Lip sync", text: "Make a face sing or speak" },
} as const satisfies Record<VideoMode, unknown>;

/** Selects one of the six video modes. */
export function ModePicker({
  value,
  onChange,
}: {
  readonly value: VideoMode;
  readonly onChange: (mode: VideoMode) => void;
}) {
  const name = useId();
  return (
    <fieldset>
      <legend className="mb-1.5 text-sm font-medium">Video mode</legend>
      <div className="grid grid-cols-2 gap-2">
        {VIDEO_MODES.map((mode) => {
          const { icon: Icon, name: title, text } = modes[mode];
          return (
            <label
              key={mode}
              className="relative flex cursor-pointer flex-col rounded-lg border px-2.5 py-2 hover:bg-muted/60 has-checked:border-accent-text has-checked:bg-accent-soft has-focus-visible:outline-2 has-focus-visible:outline-offset-1 has-focus-visible:outline-ring"
            >
              <input
                type="radio"
                name={name}
                value={mode}
                checked={mode === value}
                onChange={() => onChange(mode)}
                className="absolute inset-0 cursor-pointer appearance-none outline-none"
              />
              <span className="flex items-center gap-1.5 font-medium">
                <Icon aria-hidden className="size-4 shrink-0 text-accent-text" />
                {title}
              </span>
              <span className="text-xs text-muted-foreground">{text}</span>
            </label>
          );
        })}
      </div>
    </fieldset>
  );
}
