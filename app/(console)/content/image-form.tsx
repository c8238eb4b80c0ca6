"use client";
import { Plus, Sparkles, X } from "lucide-react";
import type { FormEvent } from "react";
import { useFocusFirstError } from "../_hooks/use-form.ts";
import type { Submit } from "../_hooks/use-submit.ts";
import { Button } from "../_ui/button.tsx";
import { Textarea } from "../_ui/form.tsx";
import { Segmented } from "../_ui/segmented.tsx";
import {
  ContentField,
  FormError,
  ModelField,
  MoreOptions,
  ShapeFields,
  TemplateField,
} from "./content-fields.tsx";
import type { ImageValues } from "./content-form.ts";
import { MediaField } from "./media-field.tsx";

const counts = ["1", "2", "3", "4"].map((value) => ({ value, label: value }));
/** The maximum of `images` in `POST /api/content/image`. */
const MAX_REFERENCES = 8;

export function ImageForm({
  values,
  onChange,
  submission: { busy, error },
  onSubmit,
}: {
  readonly values: ImageValues;
  readonly onChange: (change: Partial<ImageValues>) => void;
  readonly submission: Pick<Submit, "busy" | "error">;
  readonly onSubmit: () => void;
}) {
  const { images } = values;
  const form = useFocusFirstError(error);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit();
  };
  const fields = ["prompt", "template", "model", ...images.map((_, index) => `images.${index}`)];
  return (
    <form
      ref={form}
      noValidate
      aria-label="Image"
      onSubmit={submit}
      className="flex flex-col gap-4"
    >
      <TemplateField
        error={error}
        hint="Sets a prompt and a style. Your own prompt replaces the template's."
        value={values.template}
        onChange={(template) => onChange({ template })}
      />
      <ContentField
        name="prompt"
        label="Prompt"
        error={error}
        invalidText="Describe the image in at most 10,000 characters, or choose a template."
      >
        {(ids) => (
          <Textarea
            {...ids}
            rows={4}
            placeholder={
              values.template === ""
                ? "A singer on a flat roof at dusk, city lights behind"
                : "Optional: replaces the template's prompt"
            }
            value={values.prompt}
            onChange={(value) => onChange({ prompt: value })}
          />
        )}
      </ContentField>
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
                name={`images.${index}`}
                label={`Reference image ${index + 1}`}
                kind="image"
                error={error}
                value={url}
                onChange={(next) => onChange({ images: images.with(index, next) })}
              />
            </div>
            <Button
              variant="ghost"
              size="icon"
              aria-label={`Remove reference image ${index + 1}`}
              title="Remove"
              className="h-9"
              onClick={() => onChange({ images: images.toSpliced(index, 1) })}
            >
              <X aria-hidden />
            </Button>
          </div>
        ))}
        {images.length < MAX_REFERENCES && (
          <Button
            variant="outline"
            size="sm"
            className="self-start"
            onClick={() => onChange({ images: [...images, ""] })}
          >
            <Plus aria-hidden />
            Add reference image
          </Button>
        )}
        <ModelField
          error={error}
          hint="The provider's model. Leave empty for the default."
          value={values.model}
          onChange={(model) => onChange({ model })}
        />
      </MoreOptions>
      <FormError error={error} fields={fields} />
      <Button type="submit" size="lg" busy={busy}>
        <Sparkles aria-hidden />
        {values.num_images === 1 ? "Generate image" : `Generate ${values.num_images} images`}
      </Button>
    </form>
  );
}
