"use client";
import {
  Captions,
  Clapperboard,
  FastForward,
  Film,
  GalleryHorizontal,
  Palette,
  TextCursorInput,
} from "lucide-react";
import { type FormEvent, useId } from "react";
import { VIDEO_MODES, type VideoMode } from "@/lib/content/port.ts";
import { INPUTS_OF, type InputField } from "@/lib/content/video-mode.ts";
import { useFocusFirstError } from "../_hooks/use-form.ts";
import type { Submit } from "../_hooks/use-submit.ts";
import { Button } from "../_ui/button.tsx";
import { Input, Switch, Textarea } from "../_ui/form.tsx";
import { Segmented } from "../_ui/segmented.tsx";
import {
  ContentField,
  FormError,
  ModelField,
  MoreOptions,
  ShapeFields,
  TemplateField,
} from "./content-fields.tsx";
import { isFrameOptional, type VideoValues } from "./content-form.ts";
import { MediaField } from "./media-field.tsx";

const KIND_OF = {
  image_url: "image",
  end_image_url: "image",
  video_url: "video",
  audio_url: "audio",
} as const satisfies Record<InputField, string>;

const hints: Readonly<Partial<Record<InputField, string>>> = {
  video_url: "At most 8 seconds long",
  audio_url: "MP3, M4A or WAV, or a video with sound",
};

const durations = (["", "4s", "6s", "7s", "8s"] as const).map((value) => ({
  value,
  label: value === "" ? "Auto" : value.replace("s", " s"),
}));

/** Returns the label of an input in a mode. */
function labelOf(mode: VideoMode, field: InputField): string {
  if (field === "end_image_url") return "Last frame";
  if (field === "video_url") return "Video to continue";
  if (field === "audio_url") return "Voice or song";
  if (mode === "first-last") return "First frame";
  if (mode === "lipsync") return "Face";
  return mode === "reference" ? "Reference image" : "Image";
}

const prompts: Readonly<Record<VideoMode, string>> = {
  prompt: "Describe what happens and how the camera moves",
  animate: "Describe the movement: wind in the hair, a slow push in",
  reference: "Describe a new scene in the style of the image",
  extend: "Describe what happens next",
  "first-last": "Describe the transition",
  lipsync: "Describe the mood of the performance",
};

/** The form for a video, with the fields of the chosen mode. */
export function VideoForm({
  values,
  onChange,
  submission: { busy, error },
  onSubmit,
}: {
  readonly values: VideoValues;
  readonly onChange: (change: Partial<VideoValues>) => void;
  readonly submission: Pick<Submit, "busy" | "error">;
  readonly onSubmit: () => void;
}) {
  const { mode } = values;
  const inputs = INPUTS_OF[mode];
  const form = useFocusFirstError(error);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit();
  };
  const fields = [...inputs, "prompt", "negative_prompt", "template", "model"];
  return (
    <form
      ref={form}
      noValidate
      aria-label="Video"
      onSubmit={submit}
      className="flex flex-col gap-4"
    >
      <ModePicker value={mode} onChange={(next) => onChange({ mode: next })} />
      {inputs.map((field) => (
        <MediaField
          key={field}
          name={field}
          label={labelOf(mode, field)}
          kind={KIND_OF[field]}
          hint={hints[field]}
          error={error}
          value={values[field]}
          onChange={(url) => onChange({ [field]: url })}
        />
      ))}
      <p className="-mt-2 text-sm text-muted-foreground">
        {isFrameOptional(mode)
          ? "Leave it empty to have the first frame generated from your prompt."
          : "Choose one of your results, or enter the public https URL of a file."}
      </p>
      <TemplateField
        error={error}
        hint="Sets the movement if you leave the prompt empty."
        value={values.template}
        onChange={(template) => onChange({ template })}
      />
      <ContentField
        name="prompt"
        label="Prompt"
        error={error}
        invalidText="Describe the video in at most 10,000 characters."
      >
        {(ids) => (
          <Textarea
            {...ids}
            rows={3}
            placeholder={
              isFrameOptional(mode) && values.image_url === ""
                ? "A singer on a flat roof at dusk, city lights behind, a slow push in"
                : prompts[mode]
            }
            value={values.prompt}
            onChange={(value) => onChange({ prompt: value })}
          />
        )}
      </ContentField>
      {mode !== "lipsync" && (
        <Segmented
          label={mode === "extend" ? "Added duration" : "Duration"}
          options={durations}
          value={values.duration}
          onChange={(duration) => onChange({ duration })}
        />
      )}
      <ShapeFields
        aspectRatio={values.aspect_ratio}
        resolution={values.resolution}
        onChange={onChange}
      />
      {mode !== "lipsync" && (
        <Switch
          label="Sound"
          hint="Generates matching music or sound effects."
          checked={values.generate_audio}
          onChange={(generate_audio) => onChange({ generate_audio })}
        />
      )}
      <MoreOptions isOpen={values.negative_prompt !== "" || values.model !== ""}>
        <ContentField
          name="negative_prompt"
          label="Negative prompt"
          error={error}
          hint="What to leave out of the video."
          invalidText="Use at most 10,000 characters."
        >
          {(ids) => (
            <Input
              {...ids}
              value={values.negative_prompt}
              onChange={(value) => onChange({ negative_prompt: value })}
            />
          )}
        </ContentField>
        <ModelField
          error={error}
          hint="The provider's model. Leave empty for the default of this mode."
          value={values.model}
          onChange={(model) => onChange({ model })}
        />
      </MoreOptions>
      <FormError error={error} fields={fields} />
      <Button type="submit" size="lg" busy={busy}>
        <Clapperboard aria-hidden />
        Generate video
      </Button>
    </form>
  );
}

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
function ModePicker({
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
