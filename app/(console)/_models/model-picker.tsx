"use client";
import { ChevronDown } from "lucide-react";
import { useRef, useState } from "react";
import { type Model, useModels } from "../_hooks/shared-reads.ts";
import { lazyComponent } from "../_load/lazy-component.tsx";
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
  onChoose,
  ...optional
}: {
  readonly id?: string;
  readonly "aria-describedby"?: string;
  readonly value: string;
  readonly isField?: boolean;
  /** Whether the default can be chosen as such, for what is to follow it when it changes. */
  readonly hasDefault?: boolean;
  readonly onChoose: (modelId: string) => void;
} & ModelOptions) {
  const { data, error, reload } = useModels();
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const models = data && hasDefault ? [DEFAULT_CHOICE, ...data.models] : data?.models;
  const chosen = value || (hasDefault ? "" : (data?.default ?? ""));
  const name = models?.find(({ id }) => id === chosen)?.name ?? chosen;
  return (
    <>
      <button
        ref={button}
        id={id}
        aria-describedby={describedBy}
        type="button"
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        aria-label={name === "" ? "Model" : `Model: ${name}`}
        onClick={() => setOpen(!isOpen)}
        className={`flex min-w-0 items-center gap-1 rounded-lg text-sm hover:bg-hover ${
          isField
            ? "h-9 w-full justify-between border border-input bg-surface px-3"
            : "h-8 max-w-52 px-2 text-muted-foreground"
        }`}
      >
        <span className="truncate">{name || "Model"}</span>
        <ChevronDown aria-hidden className="size-3.5 shrink-0" />
      </button>
      {isOpen && (
        <ModelList
          button={button}
          models={models}
          defaultId={data?.default ?? ""}
          chosen={chosen}
          error={error}
          onRetry={reload}
          onChoose={onChoose}
          onClose={() => setOpen(false)}
          {...optional}
        />
      )}
    </>
  );
}
