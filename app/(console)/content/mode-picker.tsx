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
  prompt: { icon: TextCursorInput, name: "Prompt", text: "Words lead, a picture opens" },
  animate: { icon: Film, name: "Animate", text: "A still picture moves" },
  reference: { icon: Palette, name: "Reference", text: "A picture sets style or subject" },
  extend: { icon: FastForward, name: "Extend", text: "A video goes on" },
  "first-last": {
    icon: GalleryHorizontal,
    name: "First and last",
    text: "From one picture to another",
  },
  lipsync: { icon: Captions, name: "Lipsync", text: "A face sings or says a sound" },
} as const satisfies Record<VideoMode, unknown>;

/** The six kinds of video. Specification: POST /api/content/video. */
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
      <legend className="mb-1.5 text-sm font-medium">Kind of video</legend>
      <div className="grid grid-cols-2 gap-2">
        {VIDEO_MODES.map((mode) => {
          const { icon: Icon, name: title, text } = modes[mode];
          return (
            <label
              key={mode}
              className="relative flex cursor-pointer flex-col rounded-lg border px-2.5 py-2 hover:bg-muted/60 has-checked:border-accent-text has-checked:bg-accent-soft has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent-text"
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
