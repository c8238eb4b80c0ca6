import type { RunOptionChanges, RunOptions } from "@platform/endpoint/contract/run-options";
import { Popover } from "radix-ui";
import {
  type ComponentProps,
  type KeyboardEvent,
  type RefObject,
  useEffect,
  useId,
  useRef,
  useState,
} from "react";
import type { ApiError } from "../_api/request.ts";
import type { Model } from "../_hooks/shared-reads.ts";
import { SelectField, Switch } from "../_ui/form.tsx";
import { formatTokens } from "../_ui/format.ts";
import { Check, Search } from "../_ui/icons.tsx";
import { ErrorState, Loading, Skeletons } from "../_ui/states.tsx";

type Chosen = "effort" | "fallback_models" | (typeof TOOLS)[number]["option"];

/** How the model works, and with which tools, where that can be chosen. */
export interface ModelOptions {
  readonly options?: Pick<RunOptions, Chosen>;
  readonly onOptions?: (changes: Pick<RunOptionChanges, Chosen>) => void;
}

const TOOLS = [
  { option: "web_search", label: "Search the web" },
  { option: "scheduling", label: "Create schedules" },
  { option: "media_tools", label: "Generate images and videos" },
] as const;

/** No model has this id. */
const NONE = " ";

const EFFORTS = [
  { value: "", label: "As the model does" },
  { value: "low", label: "Low" },
  { value: "medium", label: "Medium" },
  { value: "high", label: "High" },
] as const;

/** The models to choose from, with a search: a combobox whose list is always open. */
export function ModelList({
  button,
  models,
  defaultId,
  chosen,
  error,
  onRetry,
  onChoose,
  onClose,
  options = {},
  onOptions,
}: {
  readonly button: RefObject<HTMLButtonElement | null>;
  readonly models: readonly Model[] | undefined;
  readonly defaultId: string;
  readonly chosen: string;
  readonly error: ApiError | null;
  readonly onRetry: () => void;
  readonly onChoose: (modelId: string) => void;
  readonly onClose: () => void;
} & ModelOptions) {
  const listId = useId();
  const [search, setSearch] = useState("");
  const found = findModels(models ?? [], search);
  const [activeId, setActiveId] = useState(chosen);
  const active = found.find(({ id }) => id === activeId) ?? found[0];
  const list = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another option is active
  useEffect(() => {
    list.current?.querySelector('[data-active="true"]')?.scrollIntoView({ block: "nearest" });
  }, [active?.id]);

  const choose = (id: string) => {
    onChoose(id);
    onClose();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const place = active ? found.indexOf(active) : -1;
    const target: Record<string, number> = {
      ArrowDown: (place + 1) % found.length,
      ArrowUp: (place - 1 + found.length) % found.length,
      PageDown: Math.min(place + 6, found.length - 1),
      PageUp: Math.max(place - 6, 0),
    };
    const next = found[target[event.key] ?? -1];
    if (next) {
      event.preventDefault();
      setActiveId(next.id);
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (active) choose(active.id);
    }
  };

  return (
    <Popover.Root open onOpenChange={(open) => !open && onClose()}>
      <Popover.Anchor virtualRef={button as RefObject<HTMLButtonElement>} />
      <Popover.Portal>
        <Popover.Content
          aria-label="Choose a model"
          side="top"
          align="start"
          sideOffset={6}
          collisionPadding={12}
          onCloseAutoFocus={(event) => {
            event.preventDefault();
            button.current?.focus();
          }}
          onInteractOutside={(event) => {
            // The button closes the list by itself.
            if (event.target instanceof Node && button.current?.contains(event.target)) {
              event.preventDefault();
            }
          }}
          className="z-50 flex w-[26rem] max-w-[calc(100vw-1.5rem)] flex-col overflow-hidden rounded-xl border bg-surface shadow-xl animate-appear"
        >
          <div className="flex items-center gap-2 border-b px-3">
            <Search aria-hidden className="size-4 shrink-0 text-muted-foreground" />
            <input
              role="combobox"
              aria-label="Search models"
              aria-expanded
              aria-controls={listId}
              aria-autocomplete="list"
              aria-activedescendant={active ? `${listId}-${active.id}` : undefined}
              placeholder="Search models"
              autoComplete="off"
              spellCheck={false}
              value={search}
              onChange={(event) => setSearch(event.target.value)}
              onKeyDown={onKeyDown}
              className="h-11 min-w-0 flex-1 bg-transparent outline-none focus-visible:outline-none max-sm:text-[16px]"
            />
          </div>
          <div
            ref={list}
            id={listId}
            role="listbox"
            aria-label="Models"
            // A dialog below the list would take the scrolling for its own page's, and prevent it.
            onWheel={(event) => event.stopPropagation()}
            onTouchMove={(event) => event.stopPropagation()}
            className="max-h-[min(20rem,50dvh)] overflow-y-auto overscroll-contain p-1"
          >
            {found.map((model) => (
              <ModelOption
                key={model.id}
                id={`${listId}-${model.id}`}
                model={model}
                isDefault={model.id === defaultId}
                aria-selected={model.id === chosen}
                data-active={model === active}
                onPointerMove={() => setActiveId(model.id)}
                onClick={() => choose(model.id)}
              />
            ))}
          </div>
          {models === undefined && error === null && (
            <Loading label="Loading models…" className="flex flex-col gap-2 p-3">
              <Skeletons count={2} className="h-5 w-3/4" />
            </Loading>
          )}
          {models === undefined && error !== null && (
            <div className="p-2">
              <ErrorState error={error} onRetry={onRetry} />
            </div>
          )}
          {models !== undefined && found.length === 0 && (
            <p role="status" className="px-4 pt-1 pb-5 text-center text-muted-foreground">
              No model matches “{search}”.
            </p>
          )}
          {onOptions && models !== undefined && (
            <div className="grid grid-cols-2 gap-3 border-t px-3 py-2.5">
              <SelectField
                label="Effort"
                value={options.effort ?? ""}
                onChange={(effort) =>
                  onOptions({ effort: EFFORTS.find(({ value }) => value === effort)?.value })
                }
                options={EFFORTS}
              />
              <SelectField
                label="If it is down"
                value={options.fallback_models?.[0] ?? (options.fallback_models ? NONE : "")}
                onChange={(id) =>
                  onOptions({ fallback_models: id === "" ? "" : id === NONE ? [] : [id] })
                }
                options={[
                  { value: "", label: "As the service does" },
                  { value: NONE, label: "No other model" },
                  ...models
                    .filter(({ id }) => id !== "" && id !== chosen)
                    .map(({ id, name }) => ({ value: id, label: name })),
                ]}
              />
            </div>
          )}
          {onOptions && (
            <div className="flex flex-col gap-2 border-t px-3 py-2.5">
              {TOOLS.map(({ option, label }) => (
                <Switch
                  key={option}
                  label={label}
                  checked={options[option] ?? false}
                  onChange={(isOn) => onOptions({ [option]: isOn })}
                />
              ))}
            </div>
          )}
          <p className="border-t px-3 py-2 text-xs text-muted-foreground">
            Context in tokens · price for a million input / output tokens
          </p>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

type ModelOptionProps = ComponentProps<"div"> & Readonly<{ model: Model; isDefault: boolean }>;

function ModelOption({ model, isDefault, ...rest }: ModelOptionProps) {
  const context = model.context_window === null ? null : formatTokens(model.context_window);
  const price = model.pricing === null ? null : formatPrice(model.pricing);
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the search field
    <div
      {...rest}
      role="option"
      className="group flex min-h-10 cursor-pointer items-center gap-2 rounded-lg px-2 py-1.5 data-[active=true]:bg-hover"
    >
      <Check
        aria-hidden
        className="invisible size-4 shrink-0 text-accent-text group-aria-selected:visible"
      />
      <span className="min-w-0 flex-1">
        <span className="flex items-center gap-1.5">
          <span className="truncate">{model.name}</span>
          {isDefault && (
            <span className="shrink-0 rounded bg-muted px-1 text-xs text-muted-foreground">
              Default
            </span>
          )}
        </span>
        {model.id !== "" && model.name !== model.id && (
          <span className="block truncate font-mono text-xs text-muted-foreground">{model.id}</span>
        )}
      </span>
      <span className="shrink-0 text-right text-xs leading-4 text-muted-foreground tabular-nums">
        {context !== null && <span className="block">{context}</span>}
        {price !== null && <span className="block">{price}</span>}
      </span>
    </div>
  );
}

function formatPrice(pricing: NonNullable<Model["pricing"]>): string {
  if (pricing.input === 0 && pricing.output === 0) return "Free";
  return `${dollars(pricing.input)} / ${dollars(pricing.output)}`;
}

const dollars = (usd: number): string =>
  `$${usd.toLocaleString("en", { maximumFractionDigits: usd < 1 ? 3 : 2 })}`;

function findModels(models: readonly Model[], search: string): readonly Model[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return models.filter(({ id, name }) => {
    const text = `${name} ${id}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
