"use client";
import { Clapperboard } from "lucide-react";
import type { FormEvent } from "react";
import { useFocusFault } from "@/app/(console)/_hooks/use-focus-fault.ts";
import type { Submit } from "@/app/(console)/_hooks/use-submit.ts";
import type { VideoValues } from "@/app/(console)/content/content-form.ts";
import type { VideoMode } from "@/lib/content/port.ts";
import { INPUTS_OF, type InputField } from "@/lib/content/video-mode.ts";
import { Button } from "../_ui/button.tsx";
import { Input } from "../_ui/input.tsx";
import { Segmented } from "../_ui/segmented.tsx";
import { Switch } from "../_ui/switch.tsx";
import { Textarea } from "../_ui/textarea.tsx";
import { ContentField, FormFault } from "./content-field.tsx";
import { MediaField } from "./media-field.tsx";
import { ModePicker } from "./mode-picker.tsx";
import { ModelField } from "./model-field.tsx";
import { MoreOptions } from "./more-options.tsx";
import { ShapeFields } from "./shape-fields.tsx";
import { TemplateField } from "./template-field.tsx";

const KIND_OF = {
  image_url: "image",
  end_image_url: "image",
  video_url: "video",
  audio_url: "audio",
} as const satisfies Record<InputField, string>;

const hints: Readonly<Partial<Record<InputField, string>>> = {
  video_url: "At most 8 seconds",
  audio_url: "MP3, M4A, WAV, or a video with sound",
};

const durations = (["", "4s", "6s", "7s", "8s"] as const).map((value) => ({
  value,
  label: value === "" ? "Auto" : value.replace("s", " s"),
}));

/** What an input is in a mode, where the field's usual name does not say it. */
function labelOf(mode: VideoMode, field: InputField): string {
  if (field === "end_image_url") return "Last frame";
  if (field === "video_url") return "Video to continue";
  if (field === "audio_url") return "Voice or song";
  if (mode === "first-last") return "First frame";
  if (mode === "lipsync") return "Face";
  return mode === "reference" ? "Reference image" : "Image";
}

const prompts: Readonly<Record<VideoMode, string>> = {
  prompt: "What happens in the picture, and how the camera moves",
  animate: "How it moves: wind in the hair, a slow push in",
  reference: "A new scene in the style of the picture",
  extend: "How it goes on",
  "first-last": "How one becomes the other",
  lipsync: "The mood of the performance",
};

/** The fields of the chosen mode, and no others. */
export function VideoForm({
  values,
  onChange,
  submission: { busy, error },
  onSubmit,
  onMakeImage,
}: {
  readonly values: VideoValues;
  readonly onChange: (change: Partial<VideoValues>) => void;
  readonly submission: Pick<Submit<unknown>, "busy" | "error">;
  readonly onSubmit: () => void;
  readonly onMakeImage: () => void;
}) {
  const { mode } = values;
  const inputs = INPUTS_OF[mode];
  const form = useFocusFault(error);
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
          fault={error}
          value={values[field]}
          onChange={(url) => onChange({ [field]: url })}
        />
      ))}
      <p className="-mt-2 text-sm text-muted-foreground">
        Choose one of your results, or give the https URL of a file that is public on the web: files
        are not uploaded here.{" "}
        {mode !== "extend" && (
          <button
            type="button"
            onClick={onMakeImage}
            className="rounded-sm font-medium text-accent-text underline-offset-2 hover:underline"
          >
            Make an image first
          </button>
        )}
      </p>
      <TemplateField
        fault={error}
        hint="Moves the picture its own way when you write no prompt."
        value={values.template}
        onChange={(template) => onChange({ template })}
      />
      <ContentField name="prompt" label="Prompt" fault={error}>
        {(ids) => (
          <Textarea
            {...ids}
            rows={3}
            placeholder={prompts[mode]}
            value={values.prompt}
            onChange={(event) => onChange({ prompt: event.target.value })}
          />
        )}
      </ContentField>
      {mode !== "lipsync" && (
        <Segmented
          label={mode === "extend" ? "How much is added" : "Duration"}
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
          hint="Music or noises that fit are made with it"
          checked={values.generate_audio}
          onChange={(generate_audio) => onChange({ generate_audio })}
        />
      )}
      <MoreOptions isOpen={values.negative_prompt !== "" || values.model !== ""}>
        <ContentField
          name="negative_prompt"
          label="Negative prompt"
          fault={error}
          hint="What must not appear"
        >
          {(ids) => (
            <Input
              {...ids}
              value={values.negative_prompt}
              onChange={(event) => onChange({ negative_prompt: event.target.value })}
            />
          )}
        </ContentField>
        <ModelField
          fault={error}
          hint="Of the provider; chosen by the kind of video when empty"
          value={values.model}
          onChange={(model) => onChange({ model })}
        />
      </MoreOptions>
      <FormFault fault={error} fields={fields} />
      <Button type="submit" size="lg" busy={busy}>
        <Clapperboard aria-hidden />
        Make the video
      </Button>
    </form>
  );
}
