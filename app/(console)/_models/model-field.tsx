import type { ComponentProps } from "react";
import { inField } from "../_ui/form.tsx";
import { ModelPicker } from "./model-picker.tsx";

type ModelControlProps = Omit<
  ComponentProps<typeof ModelPicker>,
  "label" | "isField" | "onChoose"
> & {
  readonly onChange: (modelId: string) => void;
};

/** The choice of a model in a form. */
export const ModelField = inField(({ onChange, ...rest }: ModelControlProps) => (
  <ModelPicker {...rest} isField onChoose={onChange} />
));
