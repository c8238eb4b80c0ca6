import { useRef, useState } from "react";
import { type Model, useModels } from "../_hooks/shared-reads.ts";
import { lazyComponent } from "../_load/lazy-component.tsx";
import { buttonStyle } from "../_ui/button.tsx";
import { ChevronDown } from "../_ui/icons.tsx";
import type { ModelOptions } from "./model-list.tsx";

const ModelList = lazyComponent(() => import("./model-list.tsx"), "ModelList");

const DEFAULT_CHOICE: Model = {
  id: "",
  name: "Default model",
  provider: "",
  context_window: null,
  pricing: null,
};

/** A button that opens the list of models. An empty value means the default model. */
export function ModelPicker({
  id,
  "aria-describedby": describedBy,
  value,
  isField = false,
  hasDefault = false,
  known,
  label,
  onChoose,
  ...optional
}: {
  readonly id?: string;
  readonly "aria-describedby"?: string;
  readonly value: string;
  readonly isField?: boolean;
  /** Offers the default as a choice, for settings that should follow it when it changes. */
  readonly hasDefault?: boolean;
  /** The chosen model, if it is known without the list, which is then loaded when it is opened. */
  readonly known?: { readonly id: string; readonly name: string; readonly is_default: boolean };
  /** The text of the button, in place of the model. */
  readonly label?: string;
  readonly onChoose: (modelId: string) => void;
} & ModelOptions) {
  const [isOpen, setOpen] = useState(false);
  const isKnown = known !== undefined && (value === "" || value === known.id);
  const { data, error, reload } = useModels(isOpen || !(isKnown || label));
  const button = useRef<HTMLButtonElement>(null);
  const models = data && hasDefault ? [DEFAULT_CHOICE, ...data.models] : data?.models;
  const defaultId = data?.default ?? (known?.is_default ? known.id : "");
  const chosen = value || (hasDefault ? "" : defaultId);
  const found = models?.find(({ id }) => id === chosen)?.name ?? (isKnown ? known.name : chosen);
  const name = chosen !== "" && chosen === defaultId ? `${found} (default)` : found;
  return (
    <>
      <button
        ref={button}
        id={id}
        aria-describedby={describedBy}
        type="button"
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        aria-label={label ?? (name === "" ? "Model" : `Model: ${name}`)}
        onClick={() => setOpen(!isOpen)}
        className={
          label
            ? buttonStyle({ variant: "outline", size: "sm" })
            : `flex min-w-0 items-center gap-1 rounded-lg text-sm hover:bg-hover ${
                isField
                  ? "h-9 w-full justify-between border border-input bg-surface px-3"
                  : "h-8 max-w-52 px-2 text-muted-foreground"
              }`
        }
      >
        <span className="truncate">{label ?? (name || "Model")}</span>
        <ChevronDown aria-hidden className="size-3.5 shrink-0" />
      </button>
      {isOpen && (
        <ModelList
          {...{ button, models, defaultId, chosen, error, onChoose, ...optional }}
          onRetry={reload}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}
