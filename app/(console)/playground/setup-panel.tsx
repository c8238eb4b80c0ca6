import { ConnectorsPicker } from "../_connectors/connectors-picker.tsx";
import { useModels, useTemplateChoices } from "../_hooks/shared-reads.ts";
import { ModelPicker } from "../_models/model-picker.tsx";
import { Segmented, SelectField, Textarea, TextField } from "../_ui/form.tsx";
import { formatTokens } from "../_ui/format.ts";
import { agentTools } from "./agent-tools.ts";
import { type NumberField, numberFields, type PlaygroundSetup, readNumber } from "./setup.ts";

interface SetupPanelProps {
  readonly setup: PlaygroundSetup;
  readonly onChange: (change: Partial<PlaygroundSetup>) => void;
}

/** How the agent of the playground is set up. Changes apply to the next message. */
export function SetupPanel({ setup, onChange }: SetupPanelProps) {
  const { data: models } = useModels();
  const model = models?.models.find(({ id }) => id === (setup.modelId || models.default));
  const others = (name: string) => setup.tools.filter((tool) => tool !== name);
  const hints: Readonly<Record<NumberField, string>> = {
    contextLimit: model?.context_window
      ? `Tokens; the model takes ${formatTokens(model.context_window)}. Messages beyond this limit are omitted, oldest first.`
      : "Tokens. Messages beyond this limit are omitted, oldest first.",
    temperature: "0 for the likeliest answers, up to 2. Some models accept none.",
    maxOutputTokens: "Tokens, at which an answer ends.",
  };
  return (
    <div className="flex flex-col gap-5 p-4">
      <div>
        <h2 className="mb-1.5 text-sm font-medium">Model</h2>
        <ModelPicker value={setup.modelId} onChoose={(modelId) => onChange({ modelId })} isField />
      </div>
      <div className="flex flex-col gap-3">
        <Segmented
          label="Instructions"
          options={[
            { value: "text", label: "Text" },
            { value: "template", label: "Template" },
          ]}
          value={setup.source}
          onChange={(source) => onChange({ source })}
        />
        {setup.source === "text" ? (
          <Textarea
            aria-label="Instructions to the agent"
            rows={6}
            maxLength={10_000}
            placeholder="You are the release manager of an independent label. Answer with dates and owners."
            value={setup.instructions}
            onChange={(value) => onChange({ instructions: value })}
          />
        ) : (
          <TemplateSelect
            value={setup.templateId}
            onChoose={(templateId) => onChange({ templateId })}
          />
        )}
      </div>
      {(Object.keys(numberFields) as NumberField[]).map((name) => {
        const { label, placeholder, max } = numberFields[name];
        const range = name === "temperature" ? "number from 0" : "whole number from 1";
        const isInvalid = readNumber(setup, name) === undefined;
        return (
          <TextField
            key={name}
            {...{ label, placeholder }}
            hint={hints[name]}
            error={isInvalid ? `Enter a ${range} to ${max.toLocaleString("en")}.` : undefined}
            inputMode="decimal"
            autoComplete="off"
            value={setup[name]}
            onChange={(value) => onChange({ [name]: value })}
          />
        );
      })}
      <div>
        <h2 className="mb-1.5 text-sm font-medium">Connectors</h2>
        <ConnectorsPicker
          isField
          chosen={setup.connectors}
          onChoose={(connectors) => onChange({ connectors })}
        />
      </div>
      <fieldset className="min-w-0">
        <legend className="text-sm font-medium">Tools</legend>
        <ul className="mt-1.5 divide-y rounded-lg border">
          {agentTools.map(({ name, text }) => (
            <li key={name}>
              <label className="flex cursor-pointer items-center gap-2 px-3 py-1.5 text-sm">
                <input
                  type="checkbox"
                  className="size-4 shrink-0 accent-accent"
                  checked={setup.tools.includes(name)}
                  onChange={({ target: { checked } }) =>
                    onChange({
                      tools: checked ? [...others(name), name] : others(name),
                    })
                  }
                />
                <code className="shrink-0 font-mono text-xs">{name}</code>
                <span className="min-w-0 truncate text-xs text-muted-foreground">{text}</span>
              </label>
            </li>
          ))}
        </ul>
      </fieldset>
    </div>
  );
}

type TemplateSelectProps = Readonly<{ value: string; onChoose: (templateId: string) => void }>;

function TemplateSelect({ value, onChoose }: TemplateSelectProps) {
  const { data, error } = useTemplateChoices();
  const templates = data?.templates ?? [];
  return (
    <SelectField
      label="Agent template"
      error={error === null ? undefined : "The templates could not be loaded."}
      hint={templates.find(({ id }) => id === value)?.description}
      value={value}
      onChange={onChoose}
      options={templates.map(({ id, title }) => ({ value: id, label: title }))}
    >
      <option value="">{data === undefined ? "Loading…" : "None"}</option>
    </SelectField>
  );
}
