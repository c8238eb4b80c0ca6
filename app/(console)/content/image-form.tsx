"use client";
import { Plus, Sparkles, X } from "lucide-react";
import { Button, IconButton } from "../_ui/button.tsx";
import { Segmented, TextareaField, TextField } from "../_ui/form.tsx";
import {
  ContentForm,
  type ContentFormProps,
  fieldsOf,
  MoreOptions,
  ShapeFields,
  TemplateField,
} from "./content-fields.tsx";
import type { ImageValues } from "./content-form.ts";
import { MediaField } from "./media-field.tsx";

const counts = ["1", "2", "3", "4"].map((value) => ({ value, label: value }));
/** The maximum of `images` in `POST /api/content/image`. */
const MAX_REFERENCES = 8;

/** The form for images. */
export function ImageForm(props: ContentFormProps<ImageValues>) {
  const { values, onChange, submission } = props;
  const { images, num_images: count } = values;
  const field = fieldsOf<"template" | "prompt" | "model", ImageValues>(props);
  return (
    <ContentForm
      label="Image"
      icon={Sparkles}
      submit={count === 1 ? "Generate image" : `Generate ${count} images`}
      fields={["prompt", "template", "model", ...images.map((_, index) => `images.${index}`)]}
      {...props}
    >
      <TemplateField
        hint="Sets a prompt and a style. Your own prompt replaces the template's."
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
        {...field(
          "prompt",
          "Describe the image in at most 10,000 characters, or choose a template.",
        )}
      />
      <Segmented
        label="Number of images"
        options={counts}
        value={String(values.num_images)}
        onChange={(count) => onChange({ num_images: Number(count) })}
      />
      <ShapeFields
        aspectRatio={values.aspect_ratio}
        resolution={values.resolution}
        onChange={onChange}
      />
      <MoreOptions isOpen={images.length > 0 || values.model !== ""}>
        {images.map((url, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a reference is identified by its position; two may be equal
          <div key={index} className="flex items-end gap-1">
            <div className="min-w-0 flex-1">
              <MediaField
                label={`Reference image ${index + 1}`}
                kind="image"
                isInvalid={submission.error?.fields[0] === `images.${index}`}
                value={url}
                onChange={(next) => onChange({ images: images.with(index, next) })}
              />
            </div>
            <IconButton
              isLarge
              label={`Remove reference image ${index + 1}`}
              title="Remove"
              className="h-9"
              onClick={() => onChange({ images: images.toSpliced(index, 1) })}
            >
              <X aria-hidden />
            </IconButton>
          </div>
        ))}
        {images.length < MAX_REFERENCES && (
          <Button
            icon={Plus}
            variant="outline"
            size="sm"
            className="self-start"
            onClick={() => onChange({ images: [...images, ""] })}
          >
            Add reference image
          </Button>
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
