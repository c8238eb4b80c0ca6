import { VIDEO_MODES, type VideoMode } from "@platform/media/port";
import { useId } from "react";
import { INPUTS_OF, type InputField } from "@/lib/content/video-mode.ts";
import { IconButton, SmallButton } from "../_ui/button.tsx";
import { Segmented, Switch, TextareaField, TextField } from "../_ui/form.tsx";
import {
  Captions,
  Clapperboard,
  FastForward,
  Film,
  GalleryHorizontal,
  Palette,
  Plus,
  Sparkles,
  TextCursorInput,
  X,
} from "../_ui/icons.tsx";
import {
  aspects,
  ContentForm,
  type ContentFormProps,
  INVALID_TEXTS,
  imageAspects,
  MoreOptions,
  resolutions,
  TemplateField,
} from "./content-fields.tsx";
import { type ImageValues, isFrameOptional, type VideoValues } from "./content-form.ts";
import { MEDIA_TEXTS, MediaField } from "./media-field.tsx";

export const VIDEO_TEXTS = {
  ...INVALID_TEXTS,
  prompt: "Describe the video in at most 10,000 characters.",
  negative_prompt: "Use at most 10,000 characters.",
  image_url: MEDIA_TEXTS.image,
  end_image_url: MEDIA_TEXTS.image,
  video_url: MEDIA_TEXTS.video,
  audio_url: MEDIA_TEXTS.audio,
};
export const IMAGE_TEXTS = {
  ...INVALID_TEXTS,
  prompt: "Describe the image in at most 10,000 characters, or choose a template.",
  images: MEDIA_TEXTS.image,
};

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

export function VideoForm(props: ContentFormProps<VideoValues>) {
  const { form } = props;
  const { field, values } = form;
  const { mode } = values;
  return (
    <ContentForm label="Video" icon={Clapperboard} submit="Generate video" {...props}>
      <ModePicker
        value={mode}
        onChange={(next) => {
          // An error of one mode does not apply to another.
          form.clearError();
          form.set({ mode: next });
        }}
      />
      {INPUTS_OF[mode].map((name) => (
        <MediaField
          key={name}
          label={labelOf(mode, name)}
          kind={KIND_OF[name]}
          hint={hints[name]}
          {...field(name)}
        />
      ))}
      <p className="-mt-2 text-sm text-muted-foreground">
        {isFrameOptional(mode)
          ? "Leave it empty to have the first frame generated from your prompt."
          : "Upload a file, choose one of your results, or enter a public https URL."}
      </p>
      <TemplateField
        hint="Sets the movement if you leave the prompt empty."
        form={form}
        {...field("template")}
      />
      <TextareaField
        label="Prompt"
        rows={3}
        placeholder={
          isFrameOptional(mode) && values.image_url === ""
            ? "A singer on a flat roof at dusk, city lights behind, a slow push in"
            : prompts[mode]
        }
        {...field("prompt")}
      />
      {mode !== "lipsync" && (
        <Segmented
          label={mode === "extend" ? "Added duration" : "Duration"}
          options={durations}
          {...field("duration")}
        />
      )}
      <div className="flex flex-wrap gap-x-6 gap-y-4">
        <Segmented label="Aspect ratio" options={aspects} {...field("aspect_ratio")} />
        <Segmented label="Resolution" options={resolutions} {...field("resolution")} />
      </div>
      {mode !== "lipsync" && (
        <Switch
          label="Sound"
          hint="Generates matching music or sound effects."
          checked={values.generate_audio}
          onChange={(generate_audio) => form.set({ generate_audio })}
        />
      )}
      <MoreOptions isOpen={values.negative_prompt !== "" || values.model !== ""}>
        <TextField
          label="Negative prompt"
          hint="What to leave out of the video."
          {...field("negative_prompt")}
        />
        <TextField
          label="Model"
          hint="The provider's model. Leave empty for the default of this mode."
          {...field("model")}
        />
      </MoreOptions>
    </ContentForm>
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

type ModePickerProps = Readonly<{ value: VideoMode; onChange: (mode: VideoMode) => void }>;

function ModePicker({ value, onChange }: ModePickerProps) {
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

const counts = ["1", "2", "3", "4"].map((value) => ({ value, label: value }));
/** The maximum of `images` in `POST /api/content/image`. */
const MAX_REFERENCES = 8;

export function ImageForm(props: ContentFormProps<ImageValues>) {
  const { form } = props;
  const { field, set, values } = form;
  const { images, num_images: count } = values;
  return (
    <ContentForm
      label="Image"
      icon={Sparkles}
      submit={count === 1 ? "Generate image" : `Generate ${count} images`}
      {...props}
    >
      <TemplateField
        hint="Sets a prompt and a style. Your own prompt replaces the template's."
        form={form}
        {...field("template")}
      />
      <TextareaField
        label="Prompt"
        rows={4}
        placeholder={
          values.template === ""
            ? "A singer on a flat roof at dusk, city lights behind"
            : "Optional: replaces the template's prompt"
        }
        {...field("prompt")}
      />
      <Segmented
        label="Number of images"
        options={counts}
        value={String(count)}
        onChange={(count) => set({ num_images: Number(count) })}
      />
      <div className="flex flex-wrap gap-x-6 gap-y-4">
        <Segmented label="Aspect ratio" options={imageAspects} {...field("aspect_ratio")} />
        <Segmented label="Resolution" options={resolutions} {...field("resolution")} />
      </div>
      <MoreOptions isOpen={images.length > 0 || values.model !== ""}>
        {images.map((url, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a reference is identified by its position; two may be equal
          <div key={index} className="flex items-end gap-1">
            <div className="min-w-0 flex-1">
              <MediaField
                label={`Reference image ${index + 1}`}
                kind="image"
                error={
                  form.error?.fields.includes(`images.${index}`) ? IMAGE_TEXTS.images : undefined
                }
                value={url}
                onChange={(next) => set({ images: images.with(index, next) })}
              />
            </div>
            <IconButton
              icon={X}
              isLarge
              label={`Remove reference image ${index + 1}`}
              title="Remove"
              className="h-9"
              onClick={() => set({ images: images.toSpliced(index, 1) })}
            />
          </div>
        ))}
        {images.length < MAX_REFERENCES && (
          <SmallButton
            icon={Plus}
            className="self-start"
            onClick={() => set({ images: [...images, ""] })}
          >
            Add reference image
          </SmallButton>
        )}
        <TextField
          label="Model"
          hint="The provider's model. Leave empty for the default."
          {...field("model")}
        />
      </MoreOptions>
    </ContentForm>
  );
}
